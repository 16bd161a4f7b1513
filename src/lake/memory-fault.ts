import { PricelakeError } from '../io/errors.js';

/** True for DuckDB's error at its memory limit. At its limit for spilling, the disk is full (system-fault.ts). */
export function isOutOfMemory(error: unknown): error is Error {
  return (
    error instanceof Error &&
    error.message.startsWith('Out of Memory Error') &&
    !error.message.includes('max_temp_directory_size')
  );
}

/** Runs `work`. If DuckDB needs more memory than it may use, the error says what it did, the limit, and what to set. */
export async function explainMemory<T>(doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!isOutOfMemory(cause)) throw cause;
    const limit = /\/([\d.]+ \w+) used\)/.exec(cause.message)?.[1];
    const most = limit === undefined ? 'its limit' : `its limit of ${limit}`;
    throw new PricelakeError(
      'out_of_memory',
      `${doing}: DuckDB needs more memory than ${most}; what was published stays`,
      {
        hint: 'Set lake.memory in the pipeline file to more, such as 2GB, and run the same command again: nothing is lost.',
        doing,
        ...(limit === undefined ? {} : { limit }),
      },
      { cause },
    );
  }
}
