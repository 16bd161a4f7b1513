import { stat, statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { dirname, resolve } from 'node:path';
import { ignoreMissing } from './errors.js';

/** The memory of the machine in bytes, or of the container or control group of this process if that is less. */
export function readMachineMemory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/**
 * DuckDB's memory limit unless a setting gives one: a third of the machine's memory. In benchmarks, the whole process
 * took up to two and a half times DuckDB's limit, so this leaves a sixth to the system.
 */
export function chooseMemoryLimit(machineBytes = readMachineMemory()): number {
  return Math.floor(machineBytes / 3);
}

/** The bytes that are free for this user on the disk of a path. */
export async function readFreeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}

/** The path, or its nearest parent folder that exists. */
export async function findExisting(path: string): Promise<string> {
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    if ((await stat(folder).catch(ignoreMissing)) !== undefined || folder === dirname(folder)) return folder;
  }
}
