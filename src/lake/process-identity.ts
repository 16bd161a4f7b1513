import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { canSignal } from '../io/scratch-folder.js';

/** Identifies a process, so that another one can see if it is alive. */
export interface ProcessIdentity {
  pid: number;
  host: string;
  /** Boot and process-id namespace: only within one do process ids say anything. Empty where unknown. */
  place: string;
  /** When it started, in the kernel's own count: distinguishes it from a later process with the same id. Empty if unknown. */
  startedAt: string;
}

const PROC = '/proc';

export function identifyProcess(proc = PROC): ProcessIdentity {
  const startedAt = readStart(proc, process.pid)?.ticks ?? '';
  return { pid: process.pid, host: hostname(), place: identifyPlace(proc), startedAt };
}

/**
 * True if a process is alive; undefined if that can't be seen from here: it is on another host, in another container, or
 * a process of another user that /proc hides (hidepid, ProtectProc).
 */
export function isAlive(other: ProcessIdentity, proc = PROC): boolean | undefined {
  if (other.host !== hostname() || other.place !== identifyPlace(proc)) return undefined;
  const start = readStart(proc, other.pid);
  if (start !== undefined) return start.state !== 'Z' && start.ticks === other.startedAt;
  // /proc may hide a process that exists. Signal 0 sees it, but can't tell it from a later process with its id.
  if (!canSignal(other.pid)) return false;
  return other.startedAt === '' ? true : undefined;
}

/** State and start time in /proc/<pid>/stat (fields 3 and 22); the name before them may hold spaces and brackets. */
function readStart(proc: string, pid: number): { state: string; ticks: string } | undefined {
  const stat = readSystem(() => readFileSync(`${proc}/${pid}/stat`, 'utf8'));
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state = '', ticks] = [fields[0], fields[19]];
  return ticks === undefined ? undefined : { state, ticks };
}

function identifyPlace(proc: string): string {
  const boot = readSystem(() => readFileSync(`${proc}/sys/kernel/random/boot_id`, 'utf8')).trim();
  const namespace = readSystem(() => readlinkSync(`${proc}/self/ns/pid`));
  return [boot, namespace].filter((part) => part !== '').join(' ');
}

/** Systems without /proc know less: empty text. */
function readSystem(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
