import { PricelakeError } from './errors.js';

/** Explains for each system error code why an existing file can't be read. */
const FAULTS: Record<string, string> = {
  EISDIR: 'it is a folder',
  ENOTDIR: 'its parent is not a folder',
  ELOOP: 'it is a broken link',
  EACCES: 'this user has no permission to read it',
  EIO: "the disk can't read it",
};

/**
 * Returns a handler that explains errors from reading a lake's file. The handler returns undefined if the file is
 * missing. It throws `lake_invalid` with `hint` if the file can't be read, and any other error unchanged.
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
 * Returns the error for a symbolic link in place of a lake's file or folder. If the link were followed, files outside
 * the lake would be written and deleted.
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

/** True for an address such as `s3://bucket/lake`. False for the path of a folder. */
export function isAddress(path: string): boolean {
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(path);
}
