import { fstatSync, readFileSync, readSync, statSync } from 'node:fs';
import { hasSystemCode } from '../io/errors.js';

/**
 * Returns true if SIGHUP was ignored when this process started, as it is under nohup. Node resets ignored signals
 * before our code runs, so this looks for indirect evidence. bash and zsh set `_` to the path of nohup, GNU's nohup
 * makes stdin unreadable, and on Linux the parent's status shows that it ignores the signal.
 */
export function isHangupIgnored(env: NodeJS.ProcessEnv): boolean {
  return /(?:^|\/)nohup$/u.test(env._ ?? '') || isStdinUnreadable() || parentIgnoresHangup();
}

/** True if stdin can't be read. If stdin is a terminal, nohup replaces it with /dev/null, opened only for writing. */
function isStdinUnreadable(): boolean {
  try {
    if (fstatSync(0).rdev !== statSync('/dev/null').rdev) return false;
    readSync(0, Buffer.alloc(1));
    return false;
  } catch (error) {
    return hasSystemCode(error, 'EBADF');
  }
}

/** Reads the mask of ignored signals, whose lowest bit is SIGHUP. */
function parentIgnoresHangup(): boolean {
  try {
    const [, mask = '0'] = /^SigIgn:\s*([\da-f]+)$/mu.exec(readFileSync(`/proc/${process.ppid}/status`, 'utf8')) ?? [];
    return (Number.parseInt(mask.slice(-1), 16) & 1) === 1;
  } catch {
    return false; // the system has no /proc, or hides the parent
  }
}
