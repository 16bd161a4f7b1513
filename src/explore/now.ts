/** Facts about a copy that its tables don't hold. */
export interface CopyNow {
  /** Sentences about an unfinished run, and about what is left of the month. */
  lines: readonly string[];
  /** Processes that worked on runs, newest first. */
  tries: readonly TriedRun[];
  remote: RemoteState;
}

/** The work of one process on a run. */
export interface TriedRun {
  runNumber: bigint;
  /** ISO 8601. */
  begunAt: string;
  endedAt: string;
  /** Seconds by step, in the order of the steps. */
  steps: Readonly<Record<string, number>>;
  /**
   * Why the process ended before the run did. Message and advice are given only if paths of the machine may be shown.
   */
  fault?: { step: string; code: string; message?: string; hint?: string | undefined } | undefined;
}

/** The last publication in a folder: a run and the table versions. */
export interface PublishedState {
  runNumber: bigint;
  runId: string;
  at: Date;
  versions: ReadonlyMap<string, bigint>;
}

/** The state of this machine's copy against its remote: behind, ahead or equal, as of the last reading. */
export type RemoteState =
  | { kind: 'unasked' }
  /** The lake has no remote. */
  | { kind: 'none' }
  /** The remote has not answered yet. */
  | { kind: 'asked'; url: string }
  | { kind: 'unread'; url: string; reason: string }
  /** Undefined if one side has published nothing. */
  | {
      kind: 'compared';
      url: string;
      readAt: Date;
      local: PublishedState | undefined;
      remote: PublishedState | undefined;
    };
