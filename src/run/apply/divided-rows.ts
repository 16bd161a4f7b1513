import path from 'node:path';
import type { RelationGraph } from '../../sql/graph.js';
import { asRows } from '../../sql/model.js';
import type { Relation } from '../../sql/relation.js';
import { type Sql, sql } from '../../sql/sql.js';
import { divideHere, filesOf, readParts } from '../derive/divide.js';
import type { PartFile } from '../derive/part-task.js';

/** Gives the rows of a relation, for use after FROM: all of them, or those of one part. */
export type Read = (rows: Relation) => Sql;

/** Relations in parts by item. A relation is divided into files of each part when it is first read so. */
export class DividedRows {
  readonly count: number;
  readonly #graph: RelationGraph;
  readonly #folder: string;
  readonly #readers = new Map<Relation, Promise<(part: number) => Sql>>();

  /** @param count the number of parts */
  constructor(graph: RelationGraph, { folder, count }: { folder: string; count: number }) {
    this.#graph = graph;
    this.#folder = folder;
    this.count = count;
  }

  has(rows: Relation): boolean {
    return this.#readers.has(rows);
  }

  /** Notes the files that a relation is divided into. */
  add(rows: Relation, files: readonly PartFile[]): void {
    this.#readers.set(rows, Promise.resolve(this.#reader(rows, files)));
  }

  /** Notes that the rows of a part follow from others of the same part. */
  follow(rows: Relation, from: readonly Relation[], select: (read: Read) => Sql): void {
    const read = async () => {
      const ofPart = await this.ofParts(from);
      return (part: number) => sql`(${select(ofPart(part))})`;
    };
    this.#readers.set(rows, read());
  }

  /** Divides these relations, and reads other ones whole. */
  async ofParts(from: readonly Relation[]): Promise<(part: number) => Read> {
    const readers = new Map<Relation, (part: number) => Sql>();
    for (const rows of from) readers.set(rows, await this.#read(rows));
    return (part) => (rows) => readers.get(rows)?.(part) ?? asRows(rows);
  }

  /** Selects rows with the number of their part. */
  select(rows: Sql): Sql {
    return sql`SELECT *, hash(item_id) % ${this.count} AS part FROM (${rows})`;
  }

  /** The folder for files of these rows. */
  folderOf(label: string): string {
    return path.join(this.#folder, label);
  }

  #read(rows: Relation): Promise<(part: number) => Sql> {
    let read = this.#readers.get(rows);
    if (read === undefined) {
      read = this.#divide(rows);
      this.#readers.set(rows, read);
    }
    return read;
  }

  async #divide(rows: Relation): Promise<(part: number) => Sql> {
    const select = this.select(sql`SELECT * FROM ${rows} WHERE item_id IS NOT NULL`);
    return this.#reader(rows, await divideHere(this.#graph, select, this.folderOf(rows.name)));
  }

  #reader(rows: Relation, files: readonly PartFile[]): (part: number) => Sql {
    // A part without rows has none: it must not bring all of them.
    const none = this.#graph.table('no_rows', sql`SELECT * FROM ${rows} WHERE false`);
    return (part) => {
      const own = filesOf(files, part);
      return own.length === 0 ? sql`${none}` : sql`(${readParts(own)})`;
    };
  }
}
