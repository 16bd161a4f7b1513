import type { ApiClient } from '../../api/client.js';
import type { Io } from '../../io/io.js';
import type { Landing } from '../../journal/landings.js';
import type { Memory } from '../../journal/memory.js';
import type { RelationGraph } from '../../sql/graph.js';
import type { LookAtRow } from '../../tables/table.js';
import type { TypingQueue } from '../../typing/typing-queue.js';
import type { Audit, ChangeSource, Deriver, ListingProof, Probe, Upkeep } from './wings.js';
import type { Watch } from './witness.js';

export type { FoundLake } from './open-tables.js';

/** The environment of a run: the machine, the service, and optional modules. */
export interface World {
  io: Io;
  /** The client. Its calls aren't limited until the account is read (`readAccount`). */
  client: ApiClient;
  sources: readonly ChangeSource[];
  derivers: readonly Deriver[];
  audit: Audit | undefined;
  listing: ListingProof | undefined;
  probe: Probe | undefined;
  upkeep: readonly Upkeep[];
  /** The independent checks of this run. */
  watches: readonly Watch[];
  look: LookAtRow;
}

/** The run's journal and landed files, and the state that the lake keeps between runs. */
export interface Ledger {
  landing: Landing;
  memory: Memory;
}

export interface Engine {
  graph: RelationGraph;
  typing: TypingQueue;
  /** A folder for files that only this attempt reads. */
  workFolder: string;
  /** DuckDB's memory limit, in bytes. */
  memoryLimit: number;
}
