import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { TaskPaths } from '../workers/task-paths.js';
import { type FileRead, writeForeignRead } from './file-read.js';
import type { RelationGraph } from './graph.js';
import { quoteIdentifier, quoteLiteral } from './quote.js';
import type { Relation } from './relation.js';
import { code, readFiles, Sql, sql } from './sql.js';

/** Types that Parquet keeps as they are. Values of others go as texts, which DuckDB reads back exactly. */
const KEPT =
  /^(?:BOOLEAN|U?(?:TINY|SMALL|BIG)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL\(\d+,\d+\)|VARCHAR|DATE|TIMESTAMP(?: WITH TIME ZONE)?)(?:\[\])*$/;
const AS_TEXT = /^(?:U?HUGEINT|INTERVAL|UUID|JSON|"NULL"|NULL)$/;

/** SQL of a task: its texts, and the files that it reads. There it is text alone. */
export const sqlOf = ({ file, roots }: TaskPaths): z.ZodType<Sql> => {
  const read = z.strictObject({
    reader: z.enum(['read_parquet', 'read_json']),
    files: z.array(file),
    options: z.array(z.string()),
    hasNames: z.boolean(),
  });
  return z.codec(z.array(z.union([z.string(), read])), z.instanceof(Sql), {
    decode: (pieces) =>
      new Sql(pieces.map((piece) => (typeof piece === 'string' ? piece : writeForeignRead(piece, roots))).join('')),
    encode: ({ pieces }) => pieces.map((piece) => (typeof piece === 'string' ? piece : toMutable(piece))),
  });
};

const toMutable = ({ files, options, ...rest }: FileRead) => ({ ...rest, files: [...files], options: [...options] });

/** Makes relations readable in another process: views go as their SQL, and tables as a file that is written once. */
export class Shipments {
  readonly #graph: RelationGraph;
  readonly #folder: string;
  readonly #written = new Map<Relation, Promise<Sql>>();

  /** @param folder where files of tables are written */
  constructor(graph: RelationGraph, folder: string) {
    this.#graph = graph;
    this.#folder = folder;
  }

  /** Statements that make there all relations that the SQL reads, each after those that it reads itself. */
  async ship(reader: Sql): Promise<Sql[]> {
    await this.#graph.ready(reader);
    const found = new Set<Relation>();
    for (const relation of reader.reads) collect(relation, found);
    return Promise.all([...found].map((relation) => this.#describe(relation)));
  }

  #describe(relation: Relation): Promise<Sql> {
    const { name, select } = relation;
    if (select !== undefined) {
      return Promise.resolve(new Sql([`CREATE VIEW ${quoteIdentifier(name)} AS `, ...select.pieces]));
    }
    const written = this.#written.get(relation) ?? this.#write(relation);
    this.#written.set(relation, written);
    return written;
  }

  async #write({ name }: Relation): Promise<Sql> {
    const { db } = this.#graph;
    await mkdir(this.#folder, { recursive: true });
    const file = join(this.#folder, `${name}.parquet`);
    const columns = await db.rows(`DESCRIBE ${quoteIdentifier(name)}`);
    const [sent, read] = [[], []] as [string[], string[]];
    for (const { column_name, column_type } of columns) {
      const [column, type] = [quoteIdentifier(String(column_name)), String(column_type)];
      if (!KEPT.test(type) && !AS_TEXT.test(type))
        throw new Error(`${name}: a column of type ${type} can't be shipped`);
      sent.push(KEPT.test(type) ? column : `CAST(${column} AS VARCHAR) AS ${column}`);
      read.push(`CAST(${column} AS ${type}) AS ${column}`);
    }
    await db.run(
      `COPY (SELECT ${sent.join(', ')} FROM ${quoteIdentifier(name)}) TO ${quoteLiteral(file)} (FORMAT parquet)`,
    );
    const rows = sql`SELECT ${code(read.join(', '))} FROM ${readFiles('read_parquet', [file])}`;
    return sql`CREATE VIEW ${code(quoteIdentifier(name))} AS ${rows}`;
  }
}

/** Adds a relation behind all that it reads. */
function collect(relation: Relation, found: Set<Relation>): void {
  if (found.has(relation)) return;
  for (const read of relation.select?.reads ?? []) collect(read, found);
  found.add(relation);
}
