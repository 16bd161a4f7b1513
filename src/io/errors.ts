/** Stable codes that callers branch on; the CLI maps each to an exit code (docs/reference/errors.md). */
export type ErrorCode =
  | 'usage' // an option or argument is wrong
  | 'config' // the pipeline file is wrong
  | 'unauthorized' // 401
  | 'plan_refuses' // 402
  | 'quota' // the plan's calls or export rows of the month are used up
  | 'budget' // the pipeline file or the command line does not allow more
  | 'not_found' // 404
  | 'bad_request' // 400: the service refused a parameter
  | 'contract' // the service sent an answer that the API document does not allow
  | 'unavailable' // network faults and 5xx remain after all retries
  | 'snapshot_incomplete' // an export ended early, now or in an earlier run, and is not due for another try
  | 'lake_locked' // another run holds the lake
  | 'lake_invalid' // the folder holds something else, or is damaged
  | 'lake_read_only' // the folder can't be written: permissions, or a read-only file system
  | 'disk_full'
  | 'open_files' // the process may not open more files
  | 'out_of_memory' // DuckDB needs more memory than lake.memory gives it
  | 'gate_failed' // a gate check failed, so the batch is held
  | 'offline' // a command that makes no calls would need one
  | 'landing_gone' // the raw bytes that rebuild needs are no longer kept
  | 'nothing_held' // --publish-held, but no batch is held
  | 'copy_differs' // the copy in a database is of another lake or a later run, or something else changed it
  | 'check_failed'
  | 'verify_failed' // verify found a fault
  | 'below_allowed' // watch found a shop below a price that the list allows
  | 'query' // the user's SQL is wrong
  | 'deadline' // --deadline has passed; progress is kept
  | 'stopped'; // SIGHUP, SIGINT or SIGTERM

export interface ErrorFacts {
  hint?: string;
  excerpt?: string;
  /** The service's links (section 7). */
  docsUrl?: string;
  upgradeUrl?: string;
  /** The earliest time at which another try can succeed. */
  nextRunAt?: Date;
  /** The HTTP status, and the limit that the service named. */
  status?: number;
  limit?: string;
  /** Other facts for programs, never a secret. */
  [fact: string]: unknown;
}

/**
 * The project's only error class: a stable code, a message that says where and what, and facts. The message is one line,
 * whatever it quotes.
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

/** True if the error or one of its causes has one of these system codes (ENOSPC, EEXIST…). */
export function hasSystemCode(error: unknown, ...codes: string[]): boolean {
  for (let e: unknown = error; e instanceof Error; e = e.cause) {
    const code = (e as NodeJS.ErrnoException).code;
    if (code !== undefined && codes.includes(code)) return true;
  }
  return false;
}

/** For `.catch`: returns undefined for a missing file, and throws any other error. */
export function ignoreMissing(error: unknown): undefined {
  if (hasSystemCode(error, 'ENOENT')) return undefined;
  throw error;
}
