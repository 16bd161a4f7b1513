import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { RelationGraph } from './graph.js';
import { escapeGlob, quoteIdentifier, quoteLiteral } from './quote.js';
import type { Relation } from './relation.js';
import type { Sql } from './sql.js';

/** Types that Parquet keeps as they are. Values of others go as texts, which DuckDB reads back exactly. */
const KEPT =
  /^(?:BOOLEAN|U?(?:TINY|SMALL|BIG)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL\(\d+,\d+\)|VARCHAR|DATE|TIMESTAMP(?: WITH TIME ZONE)?)(?:\[\])*$/;
const AS_TEXT = /^(?:U?HUGEINT|INTERVAL|UUID|JSON|"NULL"|NULL)$/;

/**
 * Makes relations readable in another process that sees the same files: views go as their SQL, and tables as a file that is
 * written once.
 */
export class Shipments {
  readonly #graph: RelationGraph;
  readonly #folder: string;
  readonly #written = new Map<Relation, Promise<string>>();

  /** @param folder where files of tables are written; both processes have it under this path */
  constructor(graph: RelationGraph, folder: string) {
    this.#graph = graph;
    this.#folder = folder;
  }

  /** Statements that make there all relations that the SQL reads, each after those that it reads itself. */
  async ship(sql: Sql): Promise<string[]> {
    await this.#graph.ready(sql);
    const found = new Set<Relation>();
    for (const relation of sql.reads) collect(relation, found);
    return Promise.all([...found].map((relation) => this.#describe(relation)));
  }

  #describe(relation: Relation): Promise<string> {
    const { name, select } = relation;
    if (select !== undefined) return Promise.resolve(`CREATE VIEW ${quoteIdentifier(name)} AS ${select.text}`);
    const written = this.#written.get(relation) ?? this.#write(relation);
    this.#written.set(relation, written);
    return written;
  }

  async #write({ name }: Relation): Promise<string> {
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
    const rows = `read_parquet(${quoteLiteral(escapeGlob(file))})`;
    return `CREATE VIEW ${quoteIdentifier(name)} AS SELECT ${read.join(', ')} FROM ${rows}`;
  }
}

/** Adds a relation behind all that it reads. */
function collect(relation: Relation, found: Set<Relation>): void {
  if (found.has(relation)) return;
  for (const read of relation.select?.reads ?? []) collect(read, found);
  found.add(relation);
}
