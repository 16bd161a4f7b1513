import type { ApiClient } from '../../api/client.js';
import type { TypingQueue } from '../../apply/typing-queue.js';
import type { Pipeline } from '../../config/pipeline-file.js';
import type { Io } from '../../io/io.js';
import type { Landing } from '../../journal/landings.js';
import type { Memory } from '../../journal/memory.js';
import type { Lake } from '../../lake/lake.js';
import type { LakeRows } from '../../lake/table-rows.js';
import type { RelationGraph } from '../../sql/graph.js';
import type { LookAtRow } from '../../tables/table.js';
import type { Repairs, Standings, Tables } from './open-tables.js';
import type { ChangeSource } from './wings.js';

/** Compares the answers of the service with the API document. */
export interface Witness {
  look: LookAtRow;
  /** Returns in which ways the answers differ. */
  judge(): readonly object[];
}

/** The machine, the service, and what else brings changes. */
export interface World {
  io: Io;
  /** Its calls have no limit until the account is read (`readAccount`). */
  client: ApiClient;
  witness: Witness;
  sources: readonly ChangeSource[];
}

/** The lake as the run found it, and the pipeline that keeps it. */
export interface FoundLake {
  pipeline: Pipeline;
  lake: Lake;
  tables: Tables;
  /** Rows of these tables. */
  before: LakeRows;
  standing: Standings;
  repairs: Repairs;
}

/** The journal of the run with its landed bytes, and the memory that the lake keeps from run to run. */
export interface Ledger {
  landing: Landing;
  memory: Memory;
}

/** DuckDB, with the relations and typed files that it makes. */
export interface Engine {
  graph: RelationGraph;
  typing: TypingQueue;
  /** For files that only this try reads. */
  workFolder: string;
  /** The bytes of memory that DuckDB may use. */
  memoryLimit: number;
}
