import path from 'node:path';
import type { RelationGraph } from '../../sql/graph.js';
import { asRows } from '../../sql/model.js';
import type { Relation } from '../../sql/relation.js';
import { type Sql, sql } from '../../sql/sql.js';
import { divideRows, filesOf, readParts } from './divide.js';

/** Gives the rows of a relation, for use after FROM: all of them, or those of one part. */
export type Read = (rows: Relation) => Sql;

/** Relations in parts by item. A relation is divided into files of each part when it is first read so. */
export class DividedRows {
  readonly #graph: RelationGraph;
  readonly #folder: string;
  readonly #count: number;
  readonly #readers = new Map<Relation, Promise<(part: number) => Sql>>();

  /** @param count the number of parts */
  constructor(graph: RelationGraph, { folder, count }: { folder: string; count: number }) {
    this.#graph = graph;
    this.#folder = folder;
    this.#count = count;
  }

  /** Notes that the rows of a part follow from others of the same part. */
  follow(rows: Relation, from: readonly Relation[], select: (read: Read) => Sql): void {
    const read = async () => {
      const ofPart = await this.#ofParts(from);
      return (part: number) => sql`(${select(ofPart(part))})`;
    };
    this.#readers.set(rows, read());
  }

  /** Computes rows, one part after the other. @param from the relations that the query reads in parts */
  async compute(label: string, from: readonly Relation[], select: (read: Read) => Sql): Promise<Relation> {
    const ofPart = await this.#ofParts(from);
    const [first, ...others] = Array.from({ length: this.#count }, (_, part) => select(ofPart(part)));
    return this.#graph.table(label, first as Sql, ...others);
  }

  /** Divides these relations, and reads other ones whole. */
  async #ofParts(from: readonly Relation[]): Promise<(part: number) => Read> {
    const readers = new Map<Relation, (part: number) => Sql>();
    for (const rows of from) readers.set(rows, await this.#read(rows));
    return (part) => (rows) => readers.get(rows)?.(part) ?? asRows(rows);
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
    const select = sql`SELECT *, hash(item_id) % ${this.#count} AS part FROM ${rows} WHERE item_id IS NOT NULL`;
    const files = await divideRows(this.#graph, select, path.join(this.#folder, rows.name));
    // A part without rows has none: it must not bring all of them.
    const none = this.#graph.table('no_rows', sql`SELECT * FROM ${rows} WHERE false`);
    return (part) => {
      const own = filesOf(files, part);
      return own.length === 0 ? sql`${none}` : sql`(${readParts(own)})`;
    };
  }
}
