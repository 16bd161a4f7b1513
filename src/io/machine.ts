import { execFile } from 'node:child_process';
import { readFile, stat, statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { dirname, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ignoreMissing } from './errors.js';

/** Bytes of memory of the machine, or of the container or control group that holds this process, if these are fewer. */
export function readMachineMemory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/**
 * Bytes that DuckDB may use where no setting says otherwise: a third of the machine's memory. In the benchmarks, the whole
 * process took up to two and a half times as much as DuckDB's limit, so this leaves a sixth to the system.
 */
export function chooseMemoryLimit(machineBytes = readMachineMemory()): number {
  return Math.floor(machineBytes / 3);
}

/** Bytes of memory that a process holds, as the system counts them. 0 if it has ended. */
export async function readProcessMemory(pid: number, platform = process.platform): Promise<number> {
  const inProc = async () => /^VmRSS:\s*(\d+) kB/mu.exec(await readFile(`/proc/${pid}/status`, 'latin1'))?.[1];
  const byPs = async () => (await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)])).stdout;
  const kibibytes = await (platform === 'linux' ? inProc() : byPs()).catch(() => undefined);
  return 1024 * (Number(kibibytes) || 0);
}

/** Free bytes for this user on the disk of a path. */
export async function readFreeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}

/** The path, or the nearest folder above it that exists. */
export async function findExisting(path: string): Promise<string> {
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    if ((await stat(folder).catch(ignoreMissing)) !== undefined || folder === dirname(folder)) return folder;
  }
}
