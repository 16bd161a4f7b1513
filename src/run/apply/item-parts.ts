import { countRows } from '../../lake/slices.js';
import type { RelationGraph } from '../../sql/graph.js';
import { asRows } from '../../sql/model.js';
import type { Relation } from '../../sql/relation.js';
import { type Sql, sql } from '../../sql/sql.js';
import { divideRows, type Elsewhere, readParts } from '../derive/divide.js';
import { type PartFile, ROWS } from '../derive/part-task.js';
import type { DividedRows, Read } from './divided-rows.js';
import type { Parts } from './steps-in-parts.js';

/** Rows to divide by item, and how many they are. */
export interface Piece {
  select: Sql;
  count: () => Promise<bigint>;
}

/** Rows of items in parts, for work that needs no other item's rows: workers do it, a part each. */
export class ItemParts implements Parts {
  readonly #graph: RelationGraph;
  readonly #elsewhere: Elsewhere;
  readonly #divided: DividedRows;

  constructor(graph: RelationGraph, elsewhere: Elsewhere, divided: DividedRows) {
    this.#graph = graph;
    this.#elsewhere = elsewhere;
    this.#divided = divided;
  }

  /** Has workers find rows, each in one piece. @param shape no rows, with the same columns */
  async find(label: string, pieces: readonly Piece[], shape: Sql): Promise<Relation> {
    return this.#relate(label, await this.#divideRows(label, pieces), shape);
  }

  /** Has workers divide rows that are read in parts later, unless there are few. */
  async divide(rows: Relation, sources: readonly Sql[]): Promise<void> {
    if (rows.select === undefined || this.#divided.has(rows)) return;
    const pieces = sources.map((source) => ({
      select: sql`SELECT * FROM ${source}`,
      count: () => this.#graph.count(sql`SELECT 1 FROM ${source}`),
    }));
    this.#divided.add(rows, await this.#divideRows(rows.name, pieces));
  }

  follow(rows: Relation, from: readonly Relation[], select: (read: Read) => Sql): void {
    this.#divided.follow(rows, from, select);
  }

  /**
   * Has workers compute rows. A worker also names the items that it was asked about and has no row of, so the run can
   * compare their number with its own.
   */
  async compute(
    label: string,
    from: readonly Relation[],
    { select, asked }: Record<'select' | 'asked', (read: Read) => Sql>,
  ): Promise<Relation> {
    const ofPart = await this.#divided.ofParts(from);
    const counts = await this.#countAsked(asked);
    const { count: parts } = this.#divided;
    const pieces = [...counts].map(([part, count]) => ({
      select: sql`WITH found AS MATERIALIZED (${select(ofPart(part))})
        SELECT *, ${part} AS part FROM found
        UNION ALL BY NAME
        SELECT item_id, ${part + parts} AS part
        FROM (SELECT DISTINCT item_id FROM (${asked(ofPart(part))})) ANTI JOIN found USING (item_id)`,
      count: async () => count,
    }));
    const files = await divideRows(this.#elsewhere, pieces, this.#divided.folderOf(label), ROWS);
    const shape = select((rows) => sql`(FROM ${rows} WHERE false)`);
    return this.#relate(label, files, shape);
  }

  #divideRows(label: string, pieces: readonly Piece[]): Promise<PartFile[]> {
    const divided = pieces.map(({ select, count }) => ({ select: this.#divided.select(select), count }));
    return divideRows(this.#elsewhere, divided, this.#divided.folderOf(label), ROWS);
  }

  async #countAsked(asked: (read: Read) => Sql): Promise<Map<number, bigint>> {
    const rows =
      await this.#graph.rows(sql`SELECT hash(item_id) % ${this.#divided.count} AS part, count(DISTINCT item_id) AS items
      FROM (${asked(asRows)}) WHERE item_id IS NOT NULL GROUP BY part ORDER BY part`);
    return new Map(rows.map(({ part, items }) => [Number(part), items as bigint]));
  }

  /** Rows that workers found, by their part. Those of items without a row are in parts behind the others. */
  #relate(label: string, files: readonly PartFile[], shape: Sql): Relation {
    const found = files.filter(({ part }) => part < this.#divided.count);
    const rows =
      found.length === 0
        ? this.#graph.table(label, sql`SELECT * FROM (${shape}) WHERE false`)
        : this.#graph.rowsOf(label, readParts(found), countRows(found));
    this.#divided.add(rows, found);
    return rows;
  }
}
