import { type ErrorCode, hasSystemCode, PricelakeError } from '../io/errors.js';

/** True for DuckDB's error at its memory limit. At its limit for temporary files, the disk is full. */
export function isOutOfMemory(error: unknown): error is Error {
  return (
    error instanceof Error &&
    error.message.startsWith('Out of Memory Error') &&
    !error.message.includes('max_temp_directory_size')
  );
}

/** Runs `work`. If DuckDB reaches its memory limit, the error names the task, the limit and the setting. */
export async function explainMemory<T>(doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!isOutOfMemory(cause)) throw cause;
    const limit = /\/([\d.]+ \w+) used\)/.exec(cause.message)?.[1];
    const most = limit === undefined ? 'its limit' : `its limit of ${limit}`;
    throw new PricelakeError(
      'out_of_memory',
      `${doing}: DuckDB needs more memory than ${most}; published data is unaffected`,
      {
        hint: 'Raise lake.memory in the pipeline file, for example to 2GB, and run the same command again. Nothing is lost.',
        doing,
        ...(limit === undefined ? {} : { limit }),
      },
      { cause },
    );
  }
}

/** Returns the stable code of any error, also for some errors of the system and DuckDB; otherwise `unexpected`. */
export function errorCodeOf(error: unknown): ErrorCode | 'unexpected' {
  if (error instanceof PricelakeError) return error.code;
  if (hasSystemCode(error, 'EMFILE', 'ENFILE')) return 'open_files';
  if (isOutOfMemory(error)) return 'out_of_memory';
  return hasSystemCode(error, 'ENOSPC', 'EDQUOT') ? 'disk_full' : 'unexpected';
}
