import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** Returns the resident memory of a process in bytes; 0 if the process has ended. */
export async function readProcessMemory(pid: number, platform = process.platform): Promise<number> {
  const inProc = async () => /^VmRSS:\s*(\d+) kB/mu.exec(await readFile(`/proc/${pid}/status`, 'latin1'))?.[1];
  const byPs = async () => (await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)])).stdout;
  const kibibytes = await (platform === 'linux' ? inProc() : byPs()).catch(() => undefined);
  return 1024 * (Number(kibibytes) || 0);
}
