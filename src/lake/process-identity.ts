import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { canSignal } from '../io/temporary-folder.js';

/** Identifies a process, so that another process can find out whether it is alive. */
export interface ProcessIdentity {
  pid: number;
  host: string;
  /** The boot and the process-id namespace, because process ids only have a meaning within one. Empty if unknown. */
  place: string;
  /** When it started, which distinguishes it from a later process with the same id. Empty if unknown. */
  startedAt: string;
}

const PROC = '/proc';

export function identifyProcess(proc = PROC): ProcessIdentity {
  const startedAt = readStart(proc, process.pid)?.ticks ?? '';
  return { pid: process.pid, host: hostname(), place: identifyPlace(proc), startedAt };
}

/**
 * True if a process is alive; undefined if that can't be seen from here: the process is on another host, in another
 * container, or belongs to another user and is hidden by /proc (hidepid, ProtectProc).
 */
export function isAlive(other: ProcessIdentity, proc = PROC): boolean | undefined {
  if (other.host !== hostname() || other.place !== identifyPlace(proc)) return undefined;
  const start = readStart(proc, other.pid);
  if (start !== undefined) return start.state !== 'Z' && start.ticks === other.startedAt;
  // /proc may hide an existing process. Signal 0 finds it, but can't distinguish it from a later process with its id.
  if (!canSignal(other.pid)) return false;
  return other.startedAt === '' ? true : undefined;
}

/** Reads state and start time from /proc/<pid>/stat (fields 3 and 22), after a name that may hold brackets. */
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

/** Empty on systems without /proc. */
function readSystem(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
