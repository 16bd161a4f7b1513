import { fstatSync, readFileSync, readSync, statSync } from 'node:fs';
import { hasSystemCode } from '../io/errors.js';

/**
 * True if SIGHUP was ignored for this process at its start, as nohup does. Node resets ignored signals before any of our
 * code runs, so only traces are left. bash and zsh name nohup in `_`. GNU's nohup makes stdin unreadable. On Linux, a
 * parent shell shows that it ignores the signal itself.
 */
export function isHangupIgnored(env: NodeJS.ProcessEnv): boolean {
  return /(?:^|\/)nohup$/u.test(env._ ?? '') || isStdinUnreadable() || parentIgnoresHangup();
}

/** nohup opens /dev/null for writing in place of a terminal. */
function isStdinUnreadable(): boolean {
  try {
    if (fstatSync(0).rdev !== statSync('/dev/null').rdev) return false;
    readSync(0, Buffer.alloc(1));
    return false;
  } catch (error) {
    return hasSystemCode(error, 'EBADF');
  }
}

/** SIGHUP is the first bit of the mask. */
function parentIgnoresHangup(): boolean {
  try {
    const [, mask = '0'] = /^SigIgn:\s*([\da-f]+)$/mu.exec(readFileSync(`/proc/${process.ppid}/status`, 'utf8')) ?? [];
    return (Number.parseInt(mask.slice(-1), 16) & 1) === 1;
  } catch {
    return false; // no /proc, or the parent is hidden
  }
}
