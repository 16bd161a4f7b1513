import path from 'node:path';
import { countRows } from '../../lake/slices.js';
import type { RelationGraph } from '../../sql/graph.js';
import { asRows } from '../../sql/model.js';
import type { Relation } from '../../sql/relation.js';
import { type Sql, sql } from '../../sql/sql.js';
import { divideHere, divideRows, type Elsewhere, filesOf, readParts } from '../derive/divide.js';
import { type PartFile, ROWS } from '../derive/part-task.js';
import type { Parts, Read } from './steps-in-parts.js';

/** Rows to divide by item, and how many they are. */
export interface Piece {
  select: Sql;
  count: () => Promise<bigint>;
}

/**
 * Rows of items in parts, for work that needs no other item's rows: workers do it, a part each. A relation is divided when it
 * is first read so.
 */
export class ItemParts implements Parts {
  readonly #graph: RelationGraph;
  readonly #elsewhere: Elsewhere;
  readonly #folder: string;
  readonly #count: number;
  readonly #divided = new Map<Relation, Promise<(part: number) => Sql>>();

  /** @param count the number of parts */
  constructor(graph: RelationGraph, elsewhere: Elsewhere, { folder, count }: { folder: string; count: number }) {
    this.#graph = graph;
    this.#elsewhere = elsewhere;
    this.#folder = folder;
    this.#count = count;
  }

  /** Has workers find rows, each in one piece. @param shape no rows, with the same columns */
  async find(label: string, pieces: readonly Piece[], shape: Sql): Promise<Relation> {
    const divided = pieces.map(({ select, count }) => ({ select: this.#part(select), count }));
    const files = await divideRows(this.#elsewhere, divided, this.#name(label), ROWS);
    return this.#relate(label, files, shape);
  }

  /** Has workers divide rows that are read in parts later, unless there are few. */
  async divide(rows: Relation, sources: readonly Sql[]): Promise<void> {
    if (rows.select === undefined || this.#divided.has(rows)) return;
    const pieces = sources.map((source) => ({
      select: this.#part(sql`SELECT * FROM ${source}`),
      count: () => this.#graph.count(sql`SELECT 1 FROM ${source}`),
    }));
    const files = await divideRows(this.#elsewhere, pieces, this.#name(rows.name), ROWS);
    this.#divided.set(rows, Promise.resolve(this.#reader(rows, files)));
  }

  /** Notes that the rows of a part follow from others of the same part. */
  follow(rows: Relation, from: readonly Relation[], select: (read: Read) => Sql): void {
    const read = async () => {
      const readers = await this.#readers(from);
      return (part: number) => sql`(${select(readers(part))})`;
    };
    this.#divided.set(rows, read());
  }

  /**
   * Has workers compute rows. A worker also names the items that it was asked about and has no row of, so the run can
   * compare their number with its own.
   * @param from the relations that both queries read in parts
   * @param asked selects the items, by `item_id`
   */
  async compute(
    label: string,
    from: readonly Relation[],
    { select, asked }: Record<'select' | 'asked', (read: Read) => Sql>,
  ): Promise<Relation> {
    const readers = await this.#readers(from);
    const counts = await this.#countAsked(asked);
    const pieces = [...counts].map(([part, count]) => ({
      select: sql`WITH found AS MATERIALIZED (${select(readers(part))})
        SELECT *, ${part} AS part FROM found
        UNION ALL BY NAME
        SELECT item_id, ${part + this.#count} AS part
        FROM (SELECT DISTINCT item_id FROM (${asked(readers(part))})) ANTI JOIN found USING (item_id)`,
      count: async () => count,
    }));
    const files = await divideRows(this.#elsewhere, pieces, this.#name(label), ROWS);
    const shape = select((rows) => sql`(FROM ${rows} WHERE false)`);
    return this.#relate(label, files, shape);
  }

  async #countAsked(asked: (read: Read) => Sql): Promise<Map<number, bigint>> {
    const rows =
      await this.#graph.rows(sql`SELECT hash(item_id) % ${this.#count} AS part, count(DISTINCT item_id) AS items
      FROM (${asked(asRows)}) WHERE item_id IS NOT NULL GROUP BY part ORDER BY part`);
    return new Map(rows.map(({ part, items }) => [Number(part), items as bigint]));
  }

  /** Rows that workers found, by their part. Those of items without a row are in parts behind the others. */
  #relate(label: string, files: readonly PartFile[], shape: Sql): Relation {
    const found = files.filter(({ part }) => part < this.#count);
    const rows =
      found.length === 0
        ? this.#graph.table(label, sql`SELECT * FROM (${shape}) WHERE false`)
        : this.#graph.rowsOf(label, readParts(found), countRows(found));
    this.#divided.set(rows, Promise.resolve(this.#reader(rows, found)));
    return rows;
  }

  async #readers(from: readonly Relation[]): Promise<(part: number) => Read> {
    const readers = new Map<Relation, (part: number) => Sql>();
    for (const rows of from) readers.set(rows, await this.#read(rows));
    return (part) => (rows) => readers.get(rows)?.(part) ?? asRows(rows);
  }

  #read(rows: Relation): Promise<(part: number) => Sql> {
    let read = this.#divided.get(rows);
    if (read === undefined) {
      read = this.#divideHere(rows);
      this.#divided.set(rows, read);
    }
    return read;
  }

  async #divideHere(rows: Relation): Promise<(part: number) => Sql> {
    const select = this.#part(sql`SELECT * FROM ${rows} WHERE item_id IS NOT NULL`);
    return this.#reader(rows, await divideHere(this.#graph, select, this.#name(rows.name)));
  }

  #part(select: Sql): Sql {
    return sql`SELECT *, hash(item_id) % ${this.#count} AS part FROM (${select})`;
  }

  #reader(rows: Relation, files: readonly PartFile[]): (part: number) => Sql {
    // A part without rows must not bring all of them to its worker.
    const none = this.#graph.table('no_rows', sql`SELECT * FROM ${rows} WHERE false`);
    return (part) => {
      const own = filesOf(files, part);
      return own.length === 0 ? sql`${none}` : sql`(${readParts(own)})`;
    };
  }

  #name(label: string): string {
    return path.join(this.#folder, label);
  }
}
