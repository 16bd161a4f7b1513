import { hasSystemCode, PricelakeError } from '../errors.js';

/** Runs `work`; a full disk or quota becomes PricelakeError `disk_full`, anything else passes through. */
export async function explainDiskFull<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!isDiskFull(cause)) throw cause;
    throw new PricelakeError(
      'disk_full',
      `${path}: no space left on the disk; what was published stays`,
      { hint: 'Free some space or move the lake to a larger disk, then run the same command again: nothing is lost.' },
      { cause },
    );
  }
}

/** DuckDB reports the system's text, not its code; to spill it takes no more than nearly all of the space left. */
function isDiskFull(error: unknown): boolean {
  if (error instanceof PricelakeError) return false;
  if (hasSystemCode(error, 'ENOSPC', 'EDQUOT')) return true;
  return (
    error instanceof Error && /no space left on device|disk quota exceeded|max_temp_directory_size/i.test(error.message)
  );
}
