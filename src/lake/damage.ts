import { PricelakeError } from '../io/errors.js';
import { isSystemFault } from './system-fault.js';

/** DuckDB's words for a Parquet file that is missing or altered. */
const DAMAGE =
  /No files found that match the pattern|No magic bytes found|Cannot open file "[^"]*\.parquet|ZSTD Decompression|TProtocolException|\.parquet' too small/i;

/**
 * Runs `work` under the lock, where no file can come or go: a data file that DuckDB can't read is PricelakeError
 * `lake_invalid`, anything else passes through.
 */
export async function explainDamage<T>(lakePath: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof PricelakeError || !(cause instanceof Error) || !DAMAGE.test(cause.message)) throw cause;
    if (isSystemFault(cause)) throw cause;
    const [reason] = cause.message.split('\n', 1);
    throw new PricelakeError(
      'lake_invalid',
      `${lakePath}: a data file is missing or damaged: ${reason?.trim()}`,
      {
        hint: '`pricelake verify` names all of them; `pricelake rebuild` makes the tables again from the kept raw bytes.',
      },
      { cause },
    );
  }
}
