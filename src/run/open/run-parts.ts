import type { ApiClient } from '../../api/client.js';
import type { Pipeline } from '../../config/pipeline-schema.js';
import type { Io } from '../../io/io.js';
import type { Landing } from '../../journal/landings.js';
import type { Memory } from '../../journal/memory.js';
import type { Lake } from '../../lake/lake.js';
import type { LakeRows } from '../../lake/table-rows.js';
import type { RelationGraph } from '../../sql/graph.js';
import type { LookAtRow } from '../../tables/table.js';
import type { TypingQueue } from '../../typing/typing-queue.js';
import type { Repairs, Standings, Tables } from './open-tables.js';
import type { ChangeSource, Watch } from './wings.js';

export interface World {
  io: Io;
  /** Its calls have no limit until the account is read (`readAccount`). */
  client: ApiClient;
  sources: readonly ChangeSource[];
  watches: readonly Watch[];
  look: LookAtRow;
}

export interface FoundLake {
  pipeline: Pipeline;
  lake: Lake;
  tables: Tables;
  before: LakeRows;
  standing: Standings;
  repairs: Repairs;
}

/** The journal of the run with its landed bytes, and the lake's memory between runs. */
export interface Ledger {
  landing: Landing;
  memory: Memory;
}

export interface Engine {
  graph: RelationGraph;
  typing: TypingQueue;
  /** For files that only this try reads. */
  workFolder: string;
  /** The memory limit of DuckDB in bytes. */
  memoryLimit: number;
}
