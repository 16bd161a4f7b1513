import { type ErrorCode, hasSystemCode, PricelakeError } from '../io/errors.js';

/** A fault of the machine, such as a full disk. `texts` matches DuckDB's messages: its errors have no system code. */
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
    // `max_temp_directory_size` limits DuckDB's temporary files to nearly all of the free space.
    texts: /no space left on device|disk quota exceeded|max_temp_directory_size/i,
    what: 'no space left on the disk; published data is unaffected',
    hint: 'Free some space or move the lake to a larger disk, then run the same command again. Nothing is lost.',
  },
  {
    code: 'open_files',
    systemCodes: ['EMFILE', 'ENFILE'],
    texts: /too many open files/i,
    what: "this process can't open more files; published data is unaffected",
    hint: 'Raise the limit (`ulimit -n 4096`, or LimitNOFILE in the systemd unit), then run the same command again.',
  },
  {
    code: 'lake_read_only',
    systemCodes: ['EROFS', 'EACCES', 'EPERM'],
    texts: /permission denied|read-only file system|operation not permitted/i,
    what: "this user isn't allowed to read or write this path",
    hint: 'Run as the user that owns the lake, and mount its file system read-write.',
  },
];

/** Returns the machine fault that caused an error, or undefined if the error has another cause. */
export function findFault(error: unknown): SystemFault | undefined {
  // Keeps a PricelakeError and its code, unless a connection failed because this process has too many open files.
  if (error instanceof PricelakeError) {
    const isOutOfFiles = error.code === 'unavailable' && hasSystemCode(error.cause, 'EMFILE', 'ENFILE');
    return isOutOfFiles ? FAULTS.find(({ code }) => code === 'open_files') : undefined;
  }
  return FAULTS.find(
    ({ systemCodes, texts }) =>
      hasSystemCode(error, ...systemCodes) || (error instanceof Error && texts.test(error.message)),
  );
}

/** Runs `work` on a lake. @throws PricelakeError naming the cause if the machine (disk, permissions) stops it */
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
