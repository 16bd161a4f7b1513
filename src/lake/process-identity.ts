import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { canSignal } from '../io/temporary-folder.js';

/** Identifies a process, so that other processes can check whether it is alive. */
export interface ProcessIdentity {
  pid: number;
  host: string;
  /** The boot id of the system and the namespace of the process id. Either is omitted if it is unknown. */
  place: string;
  /** The time at which the process started, because a later process may have the same id; empty if unknown. */
  startedAt: string;
}

const PROC = '/proc';

export function identifyProcess(proc = PROC): ProcessIdentity {
  const startedAt = readStart(proc, process.pid)?.ticks ?? '';
  return { pid: process.pid, host: hostname(), place: identifyPlace(proc), startedAt };
}

/**
 * True if the process is alive. Undefined if this process can't check it, because the other process is on another host
 * or in another container, or because /proc hides the processes of other users (hidepid, ProtectProc).
 */
export function isAlive(other: ProcessIdentity, proc = PROC): boolean | undefined {
  if (other.host !== hostname() || other.place !== identifyPlace(proc)) return undefined;
  const start = readStart(proc, other.pid);
  if (start !== undefined) return start.state !== 'Z' && start.ticks === other.startedAt;
  // If /proc hides the process, a signal only shows that a process with this id exists. It may be a later process.
  if (!canSignal(other.pid)) return false;
  return other.startedAt === '' ? true : undefined;
}

/** Reads the state and start time: fields 3 and 22 of /proc/<pid>/stat. Field 2, the name, may contain parentheses. */
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

/** Reads system information. Returns an empty string on systems without /proc. */
function readSystem(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
