import { PricelakeError } from './errors.js';

/** Why an existing file can't be read, by the system's error code. */
const FAULTS: Record<string, string> = {
  EISDIR: 'it is a folder',
  ENOTDIR: 'it is not in a folder',
  ELOOP: 'it is a broken link',
  EACCES: 'this user has no permission to read it',
  EIO: "the disk can't read it",
};

/**
 * For `.catch` after reading a file of the lake: returns undefined for a missing file, turns other file faults into
 * errors with `hint`, and throws all other errors unchanged.
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

/**
 * The error for a link in place of a lake's file or folder, through which pricelake would write and remove files
 * outside the lake.
 */
export function refuseLink(path: string): PricelakeError {
  return new PricelakeError('lake_invalid', `${path}: this is a symbolic link; nothing behind it was changed`, {
    hint: 'Remove the link; pricelake creates what belongs there. For a lake on another disk, set lake.path to its folder there.',
  });
}

/** True for text such as `s3://bucket/lake`, which is not a path. */
export function isAddress(path: string): boolean {
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(path);
}
