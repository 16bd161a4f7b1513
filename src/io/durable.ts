import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

export function syncFolder(path: string): Promise<void> {
  return openAndSync(path, 'r', async () => {});
}

export function syncFile(path: string): Promise<void> {
  return openAndSync(path, 'r+', async () => {});
}

/**
 * Writes a file and syncs its content to disk. The caller must also sync the folder to make a new file's name durable.
 * With the flag `wx`, throws if the file exists.
 */
export function writeSynced(path: string, data: string | Buffer, flags: 'w' | 'wx' = 'w'): Promise<void> {
  return openAndSync(path, flags, (handle) => handle.writeFile(data));
}

/** Replaces a file atomically. After a power failure, the file has either its old content or its new content. */
export async function replaceFile(path: string, data: string | Buffer, temporary: string): Promise<void> {
  try {
    await writeSynced(temporary, data);
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
  await syncFolder(dirname(path));
}

async function openAndSync(path: string, flags: string, write: (handle: FileHandle) => Promise<void>): Promise<void> {
  const handle = await open(path, flags);
  try {
    await write(handle);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true });
  if (first === undefined) return;
  for (let folder = path; folder.length >= first.length; folder = dirname(folder)) await syncFolder(dirname(folder));
}
