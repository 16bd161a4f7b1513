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
 * Returns DuckDB's memory limits in bytes, the second for statements that need more. The user's `own` is both. A process
 * used up to two and a half times DuckDB's limit in benchmarks, so a third of the memory leaves a sixth to the system.
 */
export function chooseMemoryLimits(own?: number): { memoryLimit: number; mostMemory: number } {
  const mostMemory = own ?? Math.floor(readMachineMemory() / 3);
  return { memoryLimit: own ?? Math.min(512 * 1024 ** 2, mostMemory), mostMemory };
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
