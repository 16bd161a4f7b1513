import type { Io, OpenStep } from '../../io/io.js';
import { settleAll } from '../../io/side-by-side.js';
import type { Landing } from '../../journal/landings.js';
import { beginStage, type Stage, type WrittenFiles } from '../../lake/stage.js';
import type { TableChange } from '../../lake/table-change.js';
import type { LakeRows, TableRows } from '../../lake/table-rows.js';
import { FEW_ROWS, type RelationGraph } from '../../sql/graph.js';
import type { Relation } from '../../sql/relation.js';
import { type Sql, sql } from '../../sql/sql.js';
import { relateFiles } from '../../sql/table-relation.js';
import type { Applied, FileChange, StagedFile, TableName } from '../../tables/table.js';
import { chooseItemsLayout } from './items-layout.js';
import type { FoundLake } from './open-tables.js';

export interface StagedTable {
  table: TableName;
  /** The change to commit; undefined if an earlier attempt has already committed the table. */
  change: FileChange | undefined;
  /** A second change to the same table, which removes rows. It is committed after the tables of the next step. */
  later?: FileChange | undefined;
  /** Resolves to the added files once they are synced to disk and read back. */
  sealed: Promise<StagedFile[]>;
  /** Returns the rows that the table will have after the commit. */
  rows: () => Promise<TableRows>;
}

interface StagingRun {
  found: FoundLake;
  graph: RelationGraph;
  landing: Pick<Landing, 'runId' | 'runNumber'>;
  io: Io;
}

export class Staging {
  readonly #run: StagingRun;
  readonly #metadata: Record<string, string>;
  readonly #progress: OpenStep | undefined;
  readonly #sealing: Promise<StagedFile[]>[] = [];

  constructor(run: StagingRun, metadata: Record<string, string>, progress?: OpenStep) {
    this.#run = run;
    this.#metadata = metadata;
    this.#progress = progress;
  }

  get found(): FoundLake {
    return this.#run.found;
  }

  get graph(): RelationGraph {
    return this.#run.graph;
  }

  get runId(): string {
    return this.#run.landing.runId;
  }

  /** Writes the rows of a change to staged files. @param noted values that the commit records in the table's log */
  stage(table: TableName, change: TableChange, noted: Partial<Applied> = {}): Promise<StagedTable> {
    return this.stageParts(table, change, change.rows === undefined ? [] : [change.rows], noted);
  }

  /** Like `stage`, but computes the rows in parts. */
  async stageParts(
    table: TableName,
    { remove, maxRows, leaving }: Omit<TableChange, 'rows'>,
    parts: readonly Sql[] | AsyncIterable<Sql>,
    noted: Partial<Applied> = {},
  ): Promise<StagedTable> {
    const { landing, io } = this.#run;
    const { before, standing, repairs } = this.found;
    if (standing[table] === 'committed') return this.keep(table);
    const add: StagedFile[] = [];
    const sealing: Promise<StagedFile[]>[] = [];
    const note = ({ files, sealed }: WrittenFiles) => {
      add.push(...files);
      sealing.push(sealed);
      this.#sealing.push(sealed);
    };
    for await (const rows of maxRows === 0n ? [] : parts) note(await this.#write(table, rows, { maxRows }, remove));
    const next = [...add];
    if (leaving !== undefined) note(await this.#write(table, leaving, {}, remove));
    const gone = add.slice(next.length);
    io.log('debug', 'staged', { table, files: add.length });
    this.#progress?.add(
      1n,
      add.reduce((sum, { bytes }) => sum + bytes, 0),
    );
    const run = landing.runNumber;
    const applied = { run: gone.length === 0 ? run : undefined, accepted: repairs[table], ...noted };
    const sealed = Promise.all(sealing).then((files) => files.flat());
    sealed.catch(() => {}); // this error is thrown where `sealed` is awaited
    return {
      table,
      change: { table, add, remove: [...remove], applied },
      later: gone.length === 0 ? undefined : { table, add: [], remove: gone, applied: { run } },
      sealed,
      rows: once(async () => {
        const now = await before.table(table);
        return next.length + remove.length === 0 ? now : now.after({ add: next, remove }, FEW_ROWS);
      }),
    };
  }

  /** Runs `work`, which stages tables. If it fails because of a staged file, throws the error of that file. */
  guard<T>(work: (staging: Staging) => Promise<T>): Promise<T> {
    return reportSealFirst(
      () => work(this),
      () => this.#sealing,
    );
  }

  /** Returns a table that this attempt doesn't stage, because an earlier attempt has committed it. */
  keep(table: TableName): StagedTable {
    return { table, change: undefined, sealed: Promise.resolve([]), rows: () => this.found.before.table(table) };
  }

  async #write(table: TableName, rows: Sql, more: Partial<Stage>, remove: TableChange['remove']) {
    const { graph, runId } = this;
    const { lake, pipeline, tables } = this.found;
    await graph.ready(rows);
    const layout =
      table === 'items'
        ? { ...chooseItemsLayout(pipeline, tables.items, remove), sliceBy: 'site_id', inLanes: true }
        : {};
    const targetBytes = pipeline.lake.targetFileSize;
    const stage = {
      table,
      runId,
      select: rows.text,
      metadata: this.#metadata,
      targetBytes,
      ...layout,
      ...more,
    };
    return beginStage(graph.db, lake, stage);
  }
}

export class NextLake {
  readonly #before: LakeRows;
  readonly #staged = new Map<TableName, StagedTable>();

  constructor(before: LakeRows, staged: readonly StagedTable[]) {
    this.#before = before;
    for (const one of staged) this.#staged.set(one.table, one);
  }

  /** Like `Staging.guard`, for work that reads staged tables. */
  guard<T>(work: () => Promise<T>): Promise<T> {
    return reportSealFirst(work, () => [...this.#staged.values()].map(({ sealed }) => sealed));
  }

  with(...staged: readonly StagedTable[]): NextLake {
    return new NextLake(this.#before, [...this.#staged.values(), ...staged]);
  }

  table(name: TableName): Promise<TableRows> {
    return this.#staged.get(name)?.rows() ?? this.#before.table(name);
  }

  async rows(name: TableName): Promise<Relation> {
    return (await this.table(name)).rows;
  }

  /** True if the run leaves the table's rows unchanged. */
  isKept(name: TableName): boolean {
    const { add = [], remove = [] } = this.#staged.get(name)?.change ?? {};
    return add.length + remove.length === 0;
  }

  /** Selects the rows that the run adds to a table. */
  added(name: TableName): Sql {
    const files = this.#staged.get(name)?.change?.add ?? [];
    return sql`SELECT * FROM ${relateFiles(
      name,
      files.map(({ stagedAt }) => stagedAt),
    )}`;
  }

  /** Waits until all staged files are synced to disk and read back. Returns the changes to commit. */
  async seal(): Promise<FileChange[]> {
    const sealed = await Promise.all(
      [...this.#staged.values()].map(async ({ change, later, sealed }) => {
        const add = await sealed;
        return change === undefined ? [] : [{ ...change, add }, ...(later === undefined ? [] : [later])];
      }),
    );
    return sealed.flat();
  }

  /** The changes to the tables. Their files may not be synced yet. */
  get changes(): FileChange[] {
    return [...this.#staged.values()].flatMap(({ change }) => change ?? []);
  }
}

/** If `work` fails because a staged file couldn't be synced and was removed, throws the error of that file. */
async function reportSealFirst<T>(work: () => Promise<T>, listSealing: () => Promise<unknown>[]): Promise<T> {
  const [made] = await Promise.allSettled([work()]);
  if (made.status === 'fulfilled') return made.value;
  await settleAll(listSealing());
  throw made.reason;
}

/** Returns a function that calls `make` once, and returns the same promise each time it is called. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
