import type { RelationGraph } from '../sql/graph.js';
import { quoteLiteral } from '../sql/quote.js';
import type { Relation } from '../sql/relation.js';
import { code, join, type Sql, sql } from '../sql/sql.js';
import { relateFiles, toRelationFile } from '../sql/table-relation.js';
import { type Lake, tablePath } from '../tables/layout.js';
import type { DataFile, StagedFile, TableName, TableState } from '../tables/table.js';
import { refuseDamagedFiles } from './damaged-file.js';

const MUCH_READ: readonly TableName[] = ['items', 'history', 'sites', 'stale_items', 'runs'];

/** Above this number of files, DuckDB doesn't cache footers, because each cached footer needs 50 kB of RAM. */
export const MANY_FILES = 2_000;

/** Up to this size, reading a table once into RAM is faster than planning each statement over the table's files. */
const FEW_BYTES = 16 * 1024 * 1024;

type VersionFile = DataFile | StagedFile;
type Version = Omit<TableState, 'files'> & { files: readonly VersionFile[] };

export class TableRows {
  readonly table: TableName;
  readonly files: readonly VersionFile[];
  readonly rows: Relation;
  readonly isKept: boolean;
  readonly #graph: RelationGraph;
  readonly #lake: Lake;
  readonly #version: Version;
  /** The rows in RAM, with the column `filename`; undefined if the rows aren't kept in RAM. */
  readonly #kept: Relation | undefined;

  private constructor(graph: RelationGraph, lake: Lake, version: Version, kept: Relation | undefined) {
    const { table, files } = version;
    this.#graph = graph;
    this.#lake = lake;
    this.#version = version;
    this.#kept = kept;
    this.table = table;
    this.files = files;
    this.isKept = kept !== undefined;
    this.rows =
      files.length === 0 ? graph.empty(table, table) : graph.view(table, sql`SELECT * FROM ${this.ofFiles(files)}`);
  }

  /**
   * Opens a version of a table. Downloads files that are only on the remote. Keeps the rows in RAM if the table is read
   * often and has at most `fewRows` rows.
   */
  static async open(graph: RelationGraph, lake: Lake, state: TableState, fewRows: bigint): Promise<TableRows> {
    await lake.provide?.(state.table, state.files);
    return TableRows.#read(graph, lake, state, fewRows);
  }

  /** Returns the table after files are added and removed. If its rows are in RAM, reads only the added files. */
  async after(
    { add, remove }: { add: readonly StagedFile[]; remove: readonly DataFile[] },
    fewRows: bigint,
  ): Promise<TableRows> {
    const removed = new Set(remove.map(({ path }) => path));
    const stay = this.files.filter(({ path }) => !removed.has(path));
    const published = stay.filter((file) => !('stagedAt' in file));
    await this.#lake.provide?.(this.table, published);
    const version = { ...this.#version, files: [...stay, ...add] };
    if (this.#kept === undefined || !isSmall(version.files, fewRows))
      return TableRows.#read(this.#graph, this.#lake, version, fewRows);
    const rows = [sql`SELECT * FROM ${this.#select(this.#kept, stay)}`];
    if (add.length > 0) rows.push(sql`SELECT * FROM ${readFiles(this.#lake, version, add, true)}`);
    const kept = this.#graph.table(`kept_${this.table}`, join(rows, ' UNION ALL BY NAME '));
    return new TableRows(this.#graph, this.#lake, version, kept);
  }

  /** Returns SQL for the rows of some files. With `places`, the column `filename` has the path of each row's file. */
  ofFiles(files: readonly VersionFile[], { places = false } = {}): Sql {
    if (this.#kept === undefined || files.length === 0) {
      return readFiles(this.#lake, this.#version, files, places);
    }
    const rows = this.#select(this.#kept, files);
    return places ? rows : sql`(SELECT * EXCLUDE (filename) FROM ${rows})`;
  }

  /** Verifies files before their rows are rewritten. @throws PricelakeError `lake_invalid` if a file is damaged */
  refuseDamaged(files: readonly VersionFile[]): Promise<void> {
    const published = files.filter((file): file is DataFile => !('stagedAt' in file));
    return refuseDamagedFiles(this.#lake, this.table, published);
  }

  /** Returns a file's absolute path, as it appears in the column `filename`. */
  placeOf(file: VersionFile): string {
    return placeOf(this.#lake, this.table, file);
  }

  /** Returns the files whose paths appear in the column `filename` of these rows. */
  async listFiles(rows: Sql | Relation): Promise<VersionFile[]> {
    if (this.files.length === 0) return [];
    const found = await this.#graph.rows(sql`SELECT DISTINCT filename FROM ${rows}`);
    const names = new Set(found.map(({ filename }) => filename));
    return this.files.filter((file) => names.has(this.placeOf(file)));
  }

  static async #read(graph: RelationGraph, lake: Lake, version: Version, fewRows: bigint): Promise<TableRows> {
    const { table, files } = version;
    if (files.length > MANY_FILES) await graph.db.forgetFooters();
    const isKept = files.length > 0 && MUCH_READ.includes(table) && isSmall(files, fewRows);
    const read = () => graph.table(`kept_${table}`, sql`SELECT * FROM ${readFiles(lake, version, files, true)}`);
    return new TableRows(graph, lake, version, isKept ? read() : undefined);
  }

  #select(kept: Relation, files: readonly VersionFile[]): Sql {
    if (files.length === this.files.length) return sql`(FROM ${kept})`;
    if (files.length === 0) return sql`(FROM ${kept} WHERE false)`;
    const places = files.map((file) => quoteLiteral(this.placeOf(file)));
    return sql`(FROM ${kept} WHERE filename IN (${code(places.join(', '))}))`;
  }
}

function placeOf(lake: Lake, table: TableName, file: VersionFile): string {
  return 'stagedAt' in file ? file.stagedAt : tablePath(lake, table, file.path);
}

function readFiles(lake: Lake, { table, hasOlderFiles }: Version, files: readonly VersionFile[], places: boolean): Sql {
  const relations = files.map((file) =>
    'stagedAt' in file ? file.stagedAt : toRelationFile(file, placeOf(lake, table, file)),
  );
  return relateFiles(table, relations, { hasOlderFiles, places });
}

/** True if the files are small and pricelake wrote them. Row counts recorded by other programs aren't reliable. */
export function isSmall(files: readonly VersionFile[], fewRows: bigint): boolean {
  return (
    files.every((file) => file.sha256 !== undefined || 'stagedAt' in file) &&
    files.reduce((sum, { rows }) => sum + rows, 0n) <= fewRows &&
    files.reduce((sum, { bytes }) => sum + bytes, 0) <= FEW_BYTES
  );
}

/** The tables of one version of a lake. Each table is opened when it is first used. */
export class LakeRows {
  readonly #graph: RelationGraph;
  readonly #lake: Lake;
  readonly #states: Readonly<Record<TableName, TableState>>;
  readonly #fewRows: (table: TableName) => bigint;
  readonly #opened = new Map<TableName, Promise<TableRows>>();

  /** @param fewRows returns the maximum number of rows with which a frequently read table is kept in RAM */
  constructor(
    graph: RelationGraph,
    lake: Lake,
    states: Readonly<Record<TableName, TableState>>,
    fewRows: (table: TableName) => bigint,
  ) {
    this.#graph = graph;
    this.#lake = lake;
    this.#states = states;
    this.#fewRows = fewRows;
  }

  table(name: TableName): Promise<TableRows> {
    let opened = this.#opened.get(name);
    if (opened === undefined) {
      opened = TableRows.open(this.#graph, this.#lake, this.#states[name], this.#fewRows(name));
      opened.catch(() => {}); // each reader of the table gets this error
      this.#opened.set(name, opened);
    }
    return opened;
  }

  async rows(name: TableName): Promise<Relation> {
    return (await this.table(name)).rows;
  }

  /** Opens a table with only some of its files. The other files may be missing on this disk. */
  part(name: TableName, files: readonly DataFile[]): Promise<TableRows> {
    return TableRows.open(this.#graph, this.#lake, { ...this.#states[name], files: [...files] }, 0n);
  }
}
