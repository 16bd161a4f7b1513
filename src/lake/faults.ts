import { type ErrorCode, hasSystemCode, PricelakeError } from '../io/errors.js';

/** A fault of the machine, which ends any run. `texts` match DuckDB's errors, which have no system code. */
interface SystemFault {
  code: ErrorCode;
  systemCodes: readonly string[];
  texts: RegExp;
  what: string;
  hint: string;
}

const FAULTS: readonly SystemFault[] = [
  {
    code: 'disk_full',
    systemCodes: ['ENOSPC', 'EDQUOT'],
    // DuckDB limits its spills to almost all of the free space.
    texts: /no space left on device|disk quota exceeded|max_temp_directory_size/i,
    what: 'no space left on the disk; published data is unaffected',
    hint: 'Free some space or move the lake to a larger disk, then run the same command again. Nothing is lost.',
  },
  {
    code: 'open_files',
    systemCodes: ['EMFILE', 'ENFILE'],
    texts: /too many open files/i,
    what: "this process can't open more files; published data is unaffected",
    hint: 'Raise the limit (`ulimit -n 4096`, or LimitNOFILE of the service), then run the same command again.',
  },
  {
    code: 'lake_read_only',
    systemCodes: ['EROFS', 'EACCES', 'EPERM'],
    texts: /permission denied|read-only file system|operation not permitted/i,
    what: "this user can't read and write it",
    hint: 'Run as the user that owns the lake, and mount its file system read-write.',
  },
];

/** The fault of the machine that caused the error, if any. */
export function findFault(error: unknown): SystemFault | undefined {
  // A PricelakeError usually has the right code, except a connection without a file descriptor, which is `unavailable`.
  if (error instanceof PricelakeError) {
    const isOutOfFiles = error.code === 'unavailable' && hasSystemCode(error.cause, 'EMFILE', 'ENFILE');
    return isOutOfFiles ? FAULTS.find(({ code }) => code === 'open_files') : undefined;
  }
  return FAULTS.find(
    ({ systemCodes, texts }) =>
      hasSystemCode(error, ...systemCodes) || (error instanceof Error && texts.test(error.message)),
  );
}

/** Runs `work` on a lake. A fault of the machine becomes a PricelakeError that names it. */
export async function explainSystemFault<T>(lakePath: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const fault = findFault(cause);
    if (fault === undefined) throw cause;
    const place = fault.code === 'lake_read_only' ? (findPath(cause) ?? lakePath) : lakePath;
    throw new PricelakeError(fault.code, `${place}: ${fault.what}`, { hint: fault.hint }, { cause });
  }
}

function findPath(error: unknown): string | undefined {
  for (let e: unknown = error; e instanceof Error; e = e.cause) {
    const { path } = e as NodeJS.ErrnoException;
    if (path !== undefined) return path;
    const opened = /^IO Error: Cannot open file "([^"]*)"/u.exec(e.message)?.[1];
    if (opened !== undefined) return opened;
  }
  return undefined;
}

/** True for DuckDB's error at its memory limit. At its limit for spills, the disk is full. */
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

/** The stable code of any error, including some of the system and of DuckDB; `unexpected` for all others. */
export function errorCodeOf(error: unknown): ErrorCode | 'unexpected' {
  if (error instanceof PricelakeError) return error.code;
  if (hasSystemCode(error, 'EMFILE', 'ENFILE')) return 'open_files';
  if (isOutOfMemory(error)) return 'out_of_memory';
  return hasSystemCode(error, 'ENOSPC', 'EDQUOT') ? 'disk_full' : 'unexpected';
}
