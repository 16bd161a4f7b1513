import { copyFile, link, lstat, mkdir, readdir, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasSystemCode, ignoreMissing } from '../io/errors.js';
import { realIo } from '../io/io.js';
import { type Exchange, type ExchangeAddress, joinFolder } from '../workers/exchange.js';
import { openStore } from './remote.js';
import { type Download, StoreExchange, type SummedFile } from './store-exchange.js';

/** Files that the tasks of a machine share at most. */
const CACHE_BYTES = 16 * 1024 ** 3;
/** Downloads that a killed worker left. */
const LEFT_MS = 3_600_000;

/** A worker's end of the way that files take. @param folder the worker's own, for the lake's files that it gets and writes */
export async function joinExchange(address: ExchangeAddress, folder: string): Promise<Exchange> {
  if (address.kind === 'folder') return joinFolder(address);
  const store = await openStore(address.url, realIo);
  const cache = new FileCache(join(tmpdir(), `pricelake-files-${process.getuid?.() ?? 0}`));
  const root = join(folder, 'lake');
  const close = async () => {
    store.close();
    await cache.shrink();
  };
  return new StoreExchange({
    store,
    address,
    root,
    bring: (file, path, download) => cache.bring(file, path, download),
    close,
  });
}

/**
 * Files that tasks of a machine have got, by their checksums. A task has a link of its own to each, so any of them may go.
 * Spark removes the folder of its workers' temporary files when they end.
 */
export class FileCache {
  readonly #folder: string;
  readonly #maxBytes: number;

  constructor(folder: string, maxBytes = CACHE_BYTES) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
  }

  async bring(file: SummedFile, path: string, download: Download): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    if (!(await isPrivate(this.#folder))) return download(file, path);
    const kept = join(this.#folder, file.sha256);
    if (await share(kept, path)) {
      const now = new Date();
      await utimes(kept, now, now).catch(ignoreMissing);
      return;
    }
    await download(file, kept);
    // Another task may have removed it again.
    if (!(await share(kept, path))) await download(file, path);
  }

  /** Removes the files that were used longest ago. */
  async shrink(): Promise<void> {
    const files: { path: string; bytes: number; usedAt: number; isWhole: boolean }[] = [];
    for (const name of (await readdir(this.#folder).catch(ignoreMissing)) ?? []) {
      const path = join(this.#folder, name);
      const info = await stat(path).catch(ignoreMissing);
      if (info !== undefined)
        files.push({ path, bytes: info.size, usedAt: info.mtimeMs, isWhole: !name.includes('.') });
    }
    let bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    for (const file of files.sort((a, b) => a.usedAt - b.usedAt)) {
      const isLeft = !file.isWhole && file.usedAt < Date.now() - LEFT_MS;
      if (!isLeft && (bytes <= this.#maxBytes || !file.isWhole)) continue;
      await rm(file.path, { force: true });
      bytes -= file.bytes;
    }
  }
}

/** True for a folder that only this user may enter: nobody else can have put a file there. */
async function isPrivate(folder: string): Promise<boolean> {
  const { uid, mode } = await lstat(folder);
  return uid === process.getuid?.() && (mode & 0o077) === 0;
}

/** Links a kept file to a path. @returns false if it is not there */
async function share(kept: string, path: string): Promise<boolean> {
  try {
    await link(kept, path).catch((error: unknown) => {
      if (!hasSystemCode(error, 'EPERM', 'EXDEV', 'ENOTSUP', 'EMLINK')) throw error;
      return copyFile(kept, path); // the disk has no links
    });
    return true;
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT')) return false;
    throw error;
  }
}
