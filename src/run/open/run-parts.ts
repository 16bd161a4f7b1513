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

/** The machine, the service, and what plugs into the run. */
export interface World {
  io: Io;
  /** Its calls are not limited until the account is read (`readAccount`). */
  client: ApiClient;
  sources: readonly ChangeSource[];
  derivers: readonly Deriver[];
  audit: Audit | undefined;
  listing: ListingProof | undefined;
  probe: Probe | undefined;
  upkeep: readonly Upkeep[];
  /** The witnesses of this run. */
  watches: readonly Watch[];
  look: LookAtRow;
}

/** The journal of the run with its landed bytes, and the memory that the lake keeps from run to run. */
export interface Ledger {
  landing: Landing;
  memory: Memory;
}

export interface Engine {
  graph: RelationGraph;
  typing: TypingQueue;
  /** A folder for files that only this try reads. */
  workFolder: string;
  /** The memory limit of DuckDB in bytes. */
  memoryLimit: number;
}
