/** Facts about the local copy of a lake that its tables don't contain. */
export interface CopyNow {
  /** Sentences about an unfinished run and the remaining monthly quota. */
  lines: readonly string[];
  /** The processes that worked on runs, newest first. */
  tries: readonly TriedRun[];
  remote: RemoteState;
}

/** One process that worked on a run. */
export interface TriedRun {
  runNumber: bigint;
  /** The times at which the process started and ended (ISO 8601). */
  begunAt: string;
  endedAt: string;
  /** The duration of each step in seconds, in the order in which the steps ran. */
  steps: Readonly<Record<string, number>>;
  /** Why the process ended early. `message` and `hint` are omitted if the reader may not see paths of this machine. */
  fault?: { step: string; code: string; message?: string; hint?: string | undefined } | undefined;
}

/** The newest publication in a folder: its run, and the version of each table that it contains. */
export interface PublishedState {
  runNumber: bigint;
  runId: string;
  at: Date;
  versions: ReadonlyMap<string, bigint>;
}

/** The result of comparing this machine's copy with its remote, as of the last read of the remote. */
export type RemoteState =
  | { kind: 'unasked' }
  /** The lake has no remote. */
  | { kind: 'none' }
  /** The remote has not answered yet. */
  | { kind: 'asked'; url: string }
  | { kind: 'unread'; url: string; reason: string }
  /** `local` or `remote` is undefined if nothing is published there. */
  | {
      kind: 'compared';
      url: string;
      readAt: Date;
      local: PublishedState | undefined;
      remote: PublishedState | undefined;
    };
