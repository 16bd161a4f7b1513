/** Stable error codes for callers. The command line converts each code to an exit code (docs/reference/errors.md). */
export type ErrorCode =
  | 'usage' // an option or argument is invalid
  | 'config' // the pipeline file is invalid
  | 'unauthorized' // the service returned 401
  | 'plan_refuses' // the service returned 402
  | 'quota' // the plan's calls or export rows for the month are used up
  | 'budget' // the pipeline file or the command line doesn't allow more calls or rows
  | 'not_found' // the service returned 404
  | 'bad_request' // the service rejected a parameter (400)
  | 'contract' // the service sent a response that the API document doesn't allow
  | 'unavailable' // network errors or 5xx persist after all retries
  | 'snapshot_incomplete' // a copy is incomplete, for example because an export ended early
  | 'lake_locked' // another process holds the lake's lock
  | 'lake_invalid' // the lake's folder is damaged, or isn't a lake
  | 'lake_read_only' // the user can't write to the folder, or its file system is read-only
  | 'disk_full' // the disk is full
  | 'open_files' // the process reached its limit of open files
  | 'out_of_memory' // DuckDB needs more memory than lake.memory allows
  | 'gate_failed' // a gate check failed, so the batch is held
  | 'offline' // a command that never calls the service needs a response that no run has downloaded
  | 'landing_gone' // the raw data that rebuild needs has been deleted
  | 'nothing_held' // --publish-held was given, but no batch is held
  | 'copy_differs' // the database contains another lake or a later run, or another program changed the copy
  | 'check_failed' // check found violations, or doctor found problems
  | 'verify_failed' // verify found a fault in the lake
  | 'below_allowed' // watch found a shop below the minimum price in the list
  | 'query' // the user's SQL is invalid
  | 'deadline' // --deadline has passed; progress is saved
  | 'stopped'; // the process received SIGHUP, SIGINT or SIGTERM

export interface ErrorFacts {
  hint?: string;
  excerpt?: string;
  /** Links from the body of an error response (API §7). */
  docsUrl?: string;
  upgradeUrl?: string;
  /** The earliest time at which another attempt can succeed. */
  nextRunAt?: Date;
  /** The HTTP status, and the field `limit` of the error response. */
  status?: number;
  limit?: string;
  /** Other machine-readable details. They never contain secrets. */
  [fact: string]: unknown;
}

/**
 * The class of all errors that commands explain to users. It has a stable code, a message that states where and what is
 * wrong, and machine-readable details. Line breaks in the message become spaces.
 */
export class PricelakeError extends Error {
  readonly code: ErrorCode;
  readonly facts: ErrorFacts;

  constructor(code: ErrorCode, message: string, facts: ErrorFacts = {}, options?: { cause?: unknown }) {
    super(message.replace(/[\n\r\u2028\u2029]\s*/gu, ' '), options);
    this.name = 'PricelakeError';
    this.code = code;
    this.facts = facts;
  }
}

/** True if the error, or one of its causes, has one of these system codes (ENOSPC, EEXIST…). */
export function hasSystemCode(error: unknown, ...codes: string[]): boolean {
  for (let e: unknown = error; e instanceof Error; e = e.cause) {
    const code = (e as NodeJS.ErrnoException).code;
    if (code !== undefined && codes.includes(code)) return true;
  }
  return false;
}

/** A handler for `.catch`. Returns undefined if the error is about a missing file, and throws any other error. */
export function ignoreMissing(error: unknown): undefined {
  if (hasSystemCode(error, 'ENOENT')) return undefined;
  throw error;
}

/** True if DuckDB reached its memory limit. False if it reached its limit for temporary files instead. */
export function isOutOfMemory(error: unknown): error is Error {
  return error instanceof Error && /^Out of Memory Error(?!.*max_temp_directory_size)/su.test(error.message);
}
