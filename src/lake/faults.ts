import { type ErrorCode, hasSystemCode, isOutOfMemory, PricelakeError } from '../io/errors.js';

/** Runs `work`. @throws PricelakeError `out_of_memory` that names the task, if DuckDB reaches its memory limit */
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

/** Returns the stable code of a pricelake, system or DuckDB error. Returns `unexpected` if it has no such code. */
export function errorCodeOf(error: unknown): ErrorCode | 'unexpected' {
  if (error instanceof PricelakeError) return error.code;
  if (hasSystemCode(error, 'EMFILE', 'ENFILE')) return 'open_files';
  if (isOutOfMemory(error)) return 'out_of_memory';
  return hasSystemCode(error, 'ENOSPC', 'EDQUOT') ? 'disk_full' : 'unexpected';
}
