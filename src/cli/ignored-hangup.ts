import { fstatSync, readFileSync, readSync, statSync } from 'node:fs';
import { hasSystemCode } from '../io/errors.js';

/**
 * Returns true if SIGHUP was ignored when this process started, as it is under nohup. Node resets ignored signals
 * before our code runs, so this looks for traces of nohup instead. bash and zsh set the variable `_` to the path of
 * nohup, GNU's nohup makes stdin unreadable, and on Linux the parent's status shows that the parent ignores SIGHUP.
 */
export function isHangupIgnored(env: NodeJS.ProcessEnv): boolean {
  return /(?:^|\/)nohup$/u.test(env._ ?? '') || isStdinUnreadable() || parentIgnoresHangup();
}

/**
 * Returns true if stdin can't be read. If stdin is a terminal, nohup replaces it with /dev/null, which it opens only
 * for writing.
 */
function isStdinUnreadable(): boolean {
  try {
    if (fstatSync(0).rdev !== statSync('/dev/null').rdev) return false;
    readSync(0, Buffer.alloc(1));
    return false;
  } catch (error) {
    return hasSystemCode(error, 'EBADF');
  }
}

/**
 * Returns true if the parent process ignores SIGHUP. In the parent's mask of ignored signals, SIGHUP is the lowest bit.
 */
function parentIgnoresHangup(): boolean {
  try {
    const [, mask = '0'] = /^SigIgn:\s*([\da-f]+)$/mu.exec(readFileSync(`/proc/${process.ppid}/status`, 'utf8')) ?? [];
    return (Number.parseInt(mask.slice(-1), 16) & 1) === 1;
  } catch {
    return false; // the system has no /proc, or hides the parent
  }
}
