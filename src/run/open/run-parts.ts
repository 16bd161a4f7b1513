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
  /** The client. The number of its calls isn't limited until the run has read the account (`readAccount`). */
  client: ApiClient;
  sources: readonly ChangeSource[];
  derivers: readonly Deriver[];
  audit: Audit | undefined;
  listing: ListingProof | undefined;
  probe: Probe | undefined;
  upkeep: readonly Upkeep[];
  /** The comparisons of the lake with the service that modules make during this run. */
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
  /** A folder for temporary files of this attempt. */
  workFolder: string;
  /** DuckDB's memory limit, in bytes. */
  memoryLimit: number;
}
