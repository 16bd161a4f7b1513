import { PricelakeError } from './errors.js';

/** Why a file can't be read that is there, by the system's code. */
const FAULTS: Record<string, string> = {
  EISDIR: 'it is a folder',
  ENOTDIR: 'it is not in a folder',
  ELOOP: 'it is a link that leads nowhere',
  EACCES: 'this user may not read it',
  EIO: 'the disk fails to read it',
};

/**
 * For `.catch` of reading a file of the lake: a missing one is undefined, any other fault of the file says where, what, and
 * `hint`, what to do. What is no fault of the file is thrown as it is.
 */
export function explainReadFault(path: string, hint: string): (cause: NodeJS.ErrnoException) => undefined {
  return (cause) => {
    const { code = '' } = cause;
    if (code === 'ENOENT') return undefined;
    const what = FAULTS[code];
    if (what === undefined) throw cause;
    const next = code === 'EACCES' ? 'Run as the user that owns the lake.' : hint;
    throw new PricelakeError('lake_invalid', `${path}: ${what}`, { hint: next }, { cause });
  };
}

/** The error for a link in the place of a folder or file of the lake: a write or a removal would happen elsewhere. */
export function refuseLink(path: string): PricelakeError {
  return new PricelakeError('lake_invalid', `${path}: it is a symbolic link; nothing behind it was changed`, {
    hint: 'Remove the link: pricelake makes what belongs there. For a lake on another disk, give its folder there as lake.path.',
  });
}

/** True for `s3://bucket/lake` and the like, where a folder may be meant. */
export function isAddress(path: string): boolean {
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(path);
}
