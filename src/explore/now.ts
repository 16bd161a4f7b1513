/** News of a copy that its tables don't have. */
export interface CopyNow {
  /** A run that has not ended, and what is left of the month, a sentence each. */
  lines: readonly string[];
  /** Processes that worked on runs, the newest first. */
  tries: readonly TriedRun[];
  remote: RemoteState;
}

/** One process's work on a run. */
export interface TriedRun {
  runNumber: bigint;
  /** ISO 8601. */
  begunAt: string;
  endedAt: string;
  /** Seconds by step, in the order of the steps. */
  steps: Readonly<Record<string, number>>;
  /** Why it ended before the run did; message and advice only where paths of the machine may be shown. */
  fault?: { step: string; code: string; message?: string; hint?: string | undefined } | undefined;
}

/** The last publication of a folder: a run, and the versions of tables. */
export interface PublishedState {
  runNumber: bigint;
  runId: string;
  at: Date;
  versions: ReadonlyMap<string, bigint>;
}

/** The copy on this machine against the one on its remote: behind, ahead or the same, as far as was read. */
export type RemoteState =
  | { kind: 'unasked' }
  /** The lake has none. */
  | { kind: 'none' }
  /** No answer came yet. */
  | { kind: 'asked'; url: string }
  | { kind: 'unread'; url: string; reason: string }
  /** Undefined where one side has published nothing. */
  | {
      kind: 'compared';
      url: string;
      readAt: Date;
      local: PublishedState | undefined;
      remote: PublishedState | undefined;
    };
