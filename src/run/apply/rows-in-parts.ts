import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { RelationGraph } from '../../sql/graph.js';
import { asRows } from '../../sql/model.js';
import { quoteLiteral } from '../../sql/quote.js';
import type { Relation } from '../../sql/relation.js';
import { code, readFiles, type Sql, sql } from '../../sql/sql.js';

/** Maps a relation to a FROM expression for the rows of one part, or for all rows if the relation isn't divided. */
export type Read = (rows: Relation) => Sql;

type ReadPart = (part: number) => Sql;

export interface Parts {
  folder: string;
  /** The number of parts. If there is only one, no files are written. */
  count: number;
  /** The column that divides the rows. Rows with the same value are in the same part; rows with NULL are in none. */
  key: 'item_id' | 'product_id';
}

/**
 * Processes relations in parts, so that memory use doesn't grow with the number of rows. When a relation is first read
 * in parts, divides it into files, so that reading a part doesn't read rows of other parts.
 */
export class RowsInParts {
  readonly count: number;
  readonly #graph: RelationGraph;
  readonly #parts: Parts;
  readonly #readers = new Map<Relation, Promise<ReadPart>>();

  constructor(graph: RelationGraph, parts: Parts) {
    this.count = parts.count;
    this.#graph = graph;
    this.#parts = parts;
  }

  /** Declares that part N of `rows` can be computed from part N of each relation in `from`. */
  follow(rows: Relation, from: readonly Relation[], select: (read: Read) => Sql): void {
    const read = async (): Promise<ReadPart> => {
      const reads = await this.read(from);
      return (part) => sql`(${select(reads[part] as Read)})`;
    };
    this.#readers.set(rows, read());
  }

  /** Runs a query on each part and returns all resulting rows. @param from the relations that are read in parts */
  async compute(label: string, from: readonly Relation[], select: (read: Read) => Sql): Promise<Relation> {
    const [first, ...others] = (await this.read(from)).map(select);
    return this.#graph.table(label, first as Sql, ...others);
  }

  /** Divides only the relations in `from`. Each part reads other relations whole. @param columns the columns to keep */
  async read(from: readonly Relation[], columns?: (rows: Relation) => Sql): Promise<Read[]> {
    if (this.count <= 1) return [asRows];
    const readers = new Map<Relation, ReadPart>();
    for (const rows of from) readers.set(rows, await this.#read(rows, columns?.(rows)));
    return Array.from(
      { length: this.count },
      (_, part): Read =>
        (rows) =>
          readers.get(rows)?.(part) ?? asRows(rows),
    );
  }

  #read(rows: Relation, columns?: Sql): Promise<ReadPart> {
    const read = this.#readers.get(rows) ?? this.#divide(rows, columns);
    this.#readers.set(rows, read);
    return read;
  }

  async #divide(rows: Relation, columns = sql`*`): Promise<ReadPart> {
    const { key, count, folder } = this.#parts;
    const select = sql`SELECT ${columns}, hash(${code(key)}) % ${count} AS part FROM ${rows} WHERE ${code(key)} IS NOT NULL`;
    await this.#graph.ready(select);
    const own = path.join(folder, randomUUID());
    await mkdir(own, { recursive: true });
    const copy = `COPY (${select.text}) TO ${quoteLiteral(own)} (FORMAT parquet, PARTITION_BY (part), APPEND, RETURN_STATS)`;
    const written = await this.#graph.db.rows(copy);
    const files = written.map(({ filename }) => String(filename));
    // A part without rows has no file, and DuckDB can't read an empty list of files.
    const none = sql`(SELECT * FROM ${rows} WHERE false)`;
    return (part) => {
      const ofPart = files.filter((file) => path.basename(path.dirname(file)) === `part=${part}`);
      return ofPart.length === 0 ? none : readFiles('read_parquet', ofPart, ['hive_partitioning = false']);
    };
  }
}
