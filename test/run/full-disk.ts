import fs, { type FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

type Fs = typeof fs;

/** A disk that is full for some files: what `open`, `mkdir` and `rename` of node:fs/promises do to them. */
export const disk: { isFull: (path: string) => boolean; refused: string[] } = { isFull: () => false, refused: [] };

function refuse(path: string, syscall: string): never {
  disk.refused.push(`${syscall} ${path}`);
  throw Object.assign(new Error(`ENOSPC: no space left on device, ${syscall}`), {
    code: 'ENOSPC',
    errno: -28,
    syscall,
  });
}

/**
 * Puts node:fs/promises on that disk: a write takes half of its bytes and then fails, as on a real one. Returns what
 * puts it back on the machine's.
 */
export function mountFullDisk(): () => void {
  const { open, mkdir, rename } = fs;
  const use = (functions: Partial<Fs>) => {
    Object.assign(fs, functions);
    syncBuiltinESMExports();
  };
  use({
    async open(path, flags, mode) {
      return limit(await open(path, flags, mode), String(path));
    },
    async mkdir(path: Parameters<Fs['mkdir']>[0], options?: Parameters<Fs['mkdir']>[1]) {
      if (disk.isFull(`${String(path)}/`)) refuse(String(path), 'mkdir');
      return mkdir(path, options);
    },
    async rename(from, to) {
      if (disk.isFull(String(to))) refuse(String(to), 'rename');
      return rename(from, to);
    },
  } as Partial<Fs>);
  return () => use({ open, mkdir, rename });
}

function limit(file: FileHandle, path: string): FileHandle {
  const { write, writeFile, appendFile, datasync, sync } = file;
  const half = (data: unknown) => {
    const bytes = Buffer.from(data as Buffer);
    return bytes.subarray(0, bytes.length >> 1);
  };
  const overrides = {
    async write(...[data, ...rest]: Parameters<typeof write>) {
      if (!disk.isFull(path)) return write.call(file, data, ...rest);
      await writeFile.call(file, half(data));
      return refuse(path, 'write');
    },
    async writeFile(...[data, ...rest]: Parameters<typeof writeFile>) {
      if (!disk.isFull(path)) return writeFile.call(file, data, ...rest);
      await writeFile.call(file, half(data));
      return refuse(path, 'write');
    },
    async appendFile(...[data, ...rest]: Parameters<typeof appendFile>) {
      if (!disk.isFull(path)) return appendFile.call(file, data, ...rest);
      await appendFile.call(file, half(data));
      return refuse(path, 'write');
    },
    // A disk that hands out space late tells only now.
    datasync: async () => (disk.isFull(`${path}#sync`) ? refuse(path, 'fdatasync') : datasync.call(file)),
    sync: async () => (disk.isFull(`${path}#sync`) ? refuse(path, 'fsync') : sync.call(file)),
  };
  return Object.assign(file, overrides);
}
