import { stat, statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { dirname, resolve } from 'node:path';
import { ignoreMissing } from './errors.js';

/** Returns the machine's memory in bytes, or a lower limit that the process's container or control group sets. */
export function readMachineMemory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/**
 * Returns DuckDB's memory limits in bytes: the initial limit, and `mostMemory`, to which it is raised if a statement
 * needs more. If the user sets a limit, both limits are equal to it. By default, `mostMemory` is a third of the memory.
 * In benchmarks, a process used up to two and a half times DuckDB's limit, and the system also needs memory.
 */
export function chooseMemoryLimits(own?: number): { memoryLimit: number; mostMemory: number } {
  const mostMemory = own ?? Math.floor(readMachineMemory() / 3);
  return { memoryLimit: own ?? Math.min(512 * 1024 ** 2, mostMemory), mostMemory };
}

/** Returns how many bytes this user may still write to the disk that contains `path`. */
export async function readFreeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}

/** Returns the path if it exists, or else its nearest parent folder that exists. */
export async function findExisting(path: string): Promise<string> {
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    if ((await stat(folder).catch(ignoreMissing)) !== undefined || folder === dirname(folder)) return folder;
  }
}
