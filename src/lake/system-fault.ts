import { type ErrorCode, hasSystemCode, PricelakeError } from '../io/errors.js';

/** A fault of the machine, which ends any run. DuckDB reports the system's text, not its code. */
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
    // To spill DuckDB takes no more than nearly all of the space left.
    texts: /no space left on device|disk quota exceeded|max_temp_directory_size/i,
    what: 'no space left on the disk; what was published stays',
    hint: 'Free some space or move the lake to a larger disk, then run the same command again: nothing is lost.',
  },
  {
    code: 'open_files',
    systemCodes: ['EMFILE', 'ENFILE'],
    texts: /too many open files/i,
    what: 'the system lets this process open no more files; what was published stays',
    hint: 'Raise the limit (`ulimit -n 4096`, or LimitNOFILE of the service), then run the same command again.',
  },
  {
    code: 'lake_read_only',
    systemCodes: ['EROFS', 'EACCES', 'EPERM'],
    texts: /permission denied|read-only file system|operation not permitted/i,
    what: 'the lake can be read, but not written',
    hint: 'Run as the user that owns the folder, and mount its file system for writing.',
  },
];

/** The fault of the machine that an error shows, if any. */
function findFault(error: unknown): SystemFault | undefined {
  // A connection without a file descriptor fails like one that can't be made. All other errors have a name already.
  if (error instanceof PricelakeError) return FAULTS.find(({ code }) => code === 'open_files' && isOutOfFiles(error));
  return FAULTS.find(
    ({ systemCodes, texts }) =>
      hasSystemCode(error, ...systemCodes) || (error instanceof Error && texts.test(error.message)),
  );
}

function isOutOfFiles(error: PricelakeError): boolean {
  return error.code === 'unavailable' && hasSystemCode(error.cause, 'EMFILE', 'ENFILE');
}

/** True if the machine is at fault, not the file that could not be read. */
export function isSystemFault(error: unknown): boolean {
  return findFault(error) !== undefined;
}

/** Runs `work` on a lake; a fault of the machine becomes the PricelakeError that names it, anything else passes through. */
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

/** The file that the system refused. */
function findPath(error: unknown): string | undefined {
  for (let e: unknown = error; e instanceof Error; e = e.cause) {
    const { path } = e as NodeJS.ErrnoException;
    if (path !== undefined) return path;
  }
  return undefined;
}
