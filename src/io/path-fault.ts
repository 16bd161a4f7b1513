import { PricelakeError } from './errors.js';

/** Reasons why an existing file can't be read, keyed by system error code. */
const FAULTS: Record<string, string> = {
  EISDIR: 'it is a folder',
  ENOTDIR: 'its parent is not a folder',
  ELOOP: 'it is a broken link',
  EACCES: 'this user has no permission to read it',
  EIO: "the disk can't read it",
};

/**
 * For `.catch` after reading a lake file. Returns undefined if the file is missing, converts other file errors to
 * `lake_invalid` with `hint`, and rethrows all other errors.
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
 * Creates the error for a symbolic link in place of a lake's file or folder. Following the link would write and remove
 * files outside the lake.
 */
export function refuseLink(path: string): PricelakeError {
  return new PricelakeError(
    'lake_invalid',
    `${path}: this is a symbolic link, which pricelake never follows inside a lake`,
    {
      hint: 'Remove the link, and pricelake creates a real file or folder. For a lake on another disk, set lake.path to its folder there.',
    },
  );
}

/** True for an address such as `s3://bucket/lake`, which isn't a path. */
export function isAddress(path: string): boolean {
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(path);
}
