import { findDamagedFile, type KeptFile } from '../../lake/damaged-file.js';
import type { Inspection } from '../../lake/inspect-lake.js';
import { countRows } from '../../lake/slices.js';
import type { Database } from '../../sql/connection.js';
import { quoteIdentifier } from '../../sql/quote.js';
import { type RelationFile, tableRelation, toRelationFile } from '../../sql/table-relation.js';
import { type Lake, tablePath } from '../../tables/layout.js';
import type { Applied, TableName } from '../../tables/table.js';

/**
 * The readable part of a table: all rows of the newest run (`whole`), the files that another program left (`rest`), or
 * `nothing`.
 */
type Readable = 'whole' | 'rest' | 'nothing';

/** The tables that a rebuild replaces. Some of them may be readable only in part. */
export class OldTables {
  readonly lake: Lake;
  readonly db: Database;
  readonly inspection: Inspection;
  /** A sentence for each table that was read without its log. */
  readonly carried: string[] = [];
  readonly #opened = new Map<TableName, Readable>();
  readonly #reasons = new Map<TableName, string>();

  constructor(lake: Lake, db: Database, inspection: Inspection) {
    this.lake = lake;
    this.db = db;
    this.inspection = inspection;
  }

  /** Creates a view of the table if any part of it can be read. Returns which part can be read. */
  async open(table: TableName): Promise<Readable> {
    const opened = this.#opened.get(table) ?? (await this.#open(table));
    this.#opened.set(table, opened);
    return opened;
  }

  async #open(table: TableName): Promise<Readable> {
    const { damaged, states } = this.inspection;
    const damage = damaged.get(table);
    const state = states.get(table);
    if (damage === undefined && state !== undefined) {
      // A missing column is read as null, but a column with another type can't be read.
      const isRead = state.difference.retyped.length === 0 && (await this.#tryFiles(table, this.#listLogged(table)));
      return isRead ? 'whole' : 'nothing';
    }
    this.#reasons.set(table, damage ?? 'it has no log');
    if (await this.#openPublished(table)) {
      this.carried.push(
        `${table}: read from the files listed in lake.json, and verified by their checksums; ${damage}`,
      );
      return 'whole';
    }
    const isRest = state !== undefined && (await this.#tryFiles(table, this.#listLogged(table)));
    return isRest ? 'rest' : 'nothing';
  }

  /** Opens the files that lake.json lists for the table. Returns false if this isn't possible. */
  async #openPublished(table: TableName): Promise<boolean> {
    const { pointer } = this.inspection;
    if (pointer === undefined) return false;
    const files = pointer.tables[table]?.files ?? [];
    // A file without a checksum comes from another program. Its partition values are only in the damaged log.
    if (files.some(({ sha256 }) => sha256 === undefined)) return false;
    return this.#tryFiles(
      table,
      files.map((file) => ({ ...file, source: `${this.lake.root}/${file.path}` })),
    );
  }

  #listLogged(table: TableName): (KeptFile & { source: RelationFile })[] {
    const files = this.inspection.states.get(table)?.files ?? [];
    return files.map((file) => ({
      path: `${table}/${file.path}`,
      bytes: file.bytes,
      sha256: file.sha256,
      source: toRelationFile(file, tablePath(this.lake, table, file.path)),
    }));
  }

  async #tryFiles(table: TableName, files: (KeptFile & { source: RelationFile })[]): Promise<boolean> {
    const damage = await findDamagedFile(files, (path) => `${this.lake.root}/${path}`);
    if (damage !== undefined) this.#reasons.set(table, damage);
    if (damage !== undefined) return false;
    const relation = tableRelation(
      table,
      files.map(({ source }) => source),
    );
    await this.db.run(`CREATE OR REPLACE VIEW ${quoteIdentifier(table)} AS SELECT * FROM ${relation}`);
    return true;
  }

  explain(table: TableName): string {
    return this.#reasons.get(table) ?? 'its columns have other types';
  }

  /** Returns the state recorded in the table's log, or undefined if the log is damaged. */
  readApplied(table: TableName): Applied | undefined {
    return this.inspection.damaged.has(table) ? undefined : this.inspection.states.get(table)?.applied;
  }

  /** Returns the number of rows that the table had, according to its log or lake.json. */
  countRows(table: TableName): bigint {
    const { damaged, states, pointer } = this.inspection;
    const files = damaged.has(table) ? (pointer?.tables[table]?.files ?? []) : (states.get(table)?.files ?? []);
    return countRows(files);
  }

  /** Returns the published cursor: undefined before the first run, `unknown` if no readable file contains it. */
  readCursor(): bigint | undefined | 'unknown' {
    const { damaged, states, pointer } = this.inspection;
    const history = states.get('history');
    const isRead = !damaged.has('history') && (history?.version ?? -1n) >= 0n;
    if (isRead) return history?.applied.cursor;
    return pointer === undefined ? 'unknown' : (pointer.cursor ?? undefined);
  }
}
