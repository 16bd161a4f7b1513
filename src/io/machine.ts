import { stat, statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { dirname, resolve } from 'node:path';
import { ignoreMissing } from './errors.js';

/** Returns the memory of the machine in bytes, or of this process's container or control group if lower. */
export function readMachineMemory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/**
 * Returns DuckDB's default memory limits in bytes. With the first one, a process that applied 300,000 changes to two
 * million items used 0.9 GB. The second one, a third of the machine's memory, is for statements that need more. In
 * benchmarks, a process used up to two and a half times DuckDB's limit, so this leaves a sixth to the system.
 */
export function chooseMemoryLimits(): { memoryLimit: number; mostMemory: number } {
  const mostMemory = Math.floor(readMachineMemory() / 3);
  return { memoryLimit: Math.min(512 * 1024 ** 2, mostMemory), mostMemory };
}

/** Returns the number of bytes that this user may still write to the disk of `path`. */
export async function readFreeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}

/** Returns the path, or its nearest parent folder that exists. */
export async function findExisting(path: string): Promise<string> {
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    if ((await stat(folder).catch(ignoreMissing)) !== undefined || folder === dirname(folder)) return folder;
  }
}
