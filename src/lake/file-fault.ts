import { PricelakeError } from '../io/errors.js';
import { explainReadFault } from '../io/path-fault.js';
import { REBUILD_HINT } from './delta-log.js';

/** True if the error says that a file is missing. This can happen if a run deletes replaced files during a read. */
export function isLostFile(error: unknown): boolean {
  return error instanceof Error && /^IO Error: .*(No files found|No such file)/su.test(error.message);
}

/** Maps phrases in DuckDB's error messages to system error codes, because DuckDB's errors have no such code. */
const CODES: Record<string, string> = {
  'Permission denied': 'EACCES',
  'Is a directory': 'EISDIR',
  'Input/output error': 'EIO',
  'Too many levels of symbolic links': 'ELOOP',
};

/** Converts an error about a missing or unreadable file to a PricelakeError. Returns other errors unchanged. */
export function explainFileFault(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof PricelakeError) return error;
  if (isLostFile(error)) {
    const message = 'a run replaced files of the lake while this command read them';
    return new PricelakeError('unavailable', message, { hint: 'Run the command again.' }, { cause: error });
  }
  const [, opened, words = ''] = /^IO Error: Cannot open file "([^"]*)": ([^\n]*)/u.exec(error.message) ?? [];
  const { path = opened, code = CODES[words.trim()] } = error as NodeJS.ErrnoException;
  if (path === undefined || code === undefined) return error;
  try {
    explainReadFault(path, REBUILD_HINT)(Object.assign(error, { code }));
    return error;
  } catch (explained) {
    return explained;
  }
}
