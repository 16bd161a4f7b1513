import type { DuckDBValue } from '@duckdb/node-api';
import { IdSet } from '../io/id-set.js';
import { loadTableSchema } from '../tables/schemas.js';
import type { TableName } from '../tables/table.js';
import type { Database } from './connection.js';
import { bindModel, type ModelName, type Needs, type Values } from './model.js';
import { quoteIdentifier, quoteLiteral } from './quote.js';
import { Relation } from './relation.js';
import { code, type Sql, sql } from './sql.js';
import { type ColumnType, writeEmptySelect } from './table-relation.js';
import { runWhole } from './whole-result.js';

/** The maximum number of rows that are copied into a table. Larger relations are read from files. */
export const FEW_ROWS = 50_000n;

/** Creates relations in a database. Before a statement runs, it waits until the relations that it reads exist. */
export class RelationGraph {
  readonly db: Database;

  constructor(db: Database) {
    this.db = db;
  }

  view(label: string, select: Sql): Relation {
    return this.#make('VIEW', label, select);
  }

  /**
   * Creates a relation whose rows are computed once and stored. Then appends the rows of each further query, in the
   * given order. All queries must have the same columns.
   */
  table(label: string, select: Sql, ...nextSelects: readonly Sql[]): Relation {
    return this.#make('TABLE', label, select, nextSelects);
  }

  /** Creates a table for few rows, or a view for many. @param rows the maximum number of rows that `select` returns */
  rowsOf(label: string, select: Sql, rows: bigint): Relation {
    return rows <= FEW_ROWS ? this.table(label, select) : this.view(label, select);
  }

  empty(label: string, columns: readonly ColumnType[] | TableName): Relation {
    return this.table(label, code(writeEmptySelect(columns)));
  }

  model<M extends ModelName>(name: M, needs: Needs<M>, values: Values<M>): Relation {
    return this.table(name, bindModel(name, needs, values));
  }

  /** Creates a table with the columns of `table` and these rows. Values are bound as text, and then cast. */
  load(label: string, table: TableName, rows: readonly Record<string, LoadedValue>[]): Relation {
    const { columns } = loadTableSchema(table);
    const name = this.#name(label);
    return new Relation(name, begin(loadRows(this.db, name, columns, rows)));
  }

  async rows(statement: Sql): Promise<Record<string, DuckDBValue>[]> {
    await this.ready(statement);
    return this.db.rows(statement.text);
  }

  async row(statement: Sql): Promise<Record<string, DuckDBValue> | undefined> {
    return (await this.rows(statement))[0];
  }

  async count(rows: Relation | Sql): Promise<bigint> {
    const row = await this.row(
      rows instanceof Relation ? sql`SELECT count(*) AS n FROM ${rows}` : sql`SELECT count(*) AS n FROM (${rows})`,
    );
    return row?.n as bigint;
  }

  /** Returns the item ids of the rows. Creates no object for each row, because there may be millions of rows. */
  async itemIds(rows: Relation | Sql): Promise<IdSet> {
    const each = sql`SELECT DISTINCT item_id FROM ${rows}`;
    const { text } = sql`${each} ORDER BY item_id`;
    await this.ready(each);
    return this.db.withSession(async (connection) => {
      const { count, chunks } = await runWhole({ run: () => connection.run(text) });
      const ids = new BigInt64Array(count);
      let place = 0;
      for await (const chunk of chunks()) {
        ids.set(chunk.getColumnValues(0) as bigint[], place);
        place += chunk.rowCount;
      }
      return new IdSet(ids);
    });
  }

  /** Resolves when all relations that the SQL reads exist. */
  async ready({ reads }: Sql): Promise<void> {
    await Promise.all([...reads].map(({ made }) => made));
  }

  /** Drops tables that are no longer read, to free their memory. */
  async drop(...tables: readonly Relation[]): Promise<void> {
    for (const { name, made } of tables) {
      await made;
      await this.db.run(`DROP TABLE ${quoteIdentifier(name)}`);
    }
  }

  #make(kind: 'VIEW' | 'TABLE', label: string, select: Sql, nextSelects: readonly Sql[] = []): Relation {
    const name = this.#name(label);
    const make = async () => {
      await this.ready(select);
      await this.db.run(`CREATE ${kind} ${quoteIdentifier(name)} AS ${select.text}`);
      for (const other of nextSelects) {
        await this.ready(other);
        await this.db.run(`INSERT INTO ${quoteIdentifier(name)} ${other.text}`);
      }
    };
    return new Relation(name, begin(make()));
  }

  #name(label: string): string {
    return `r${this.db.nextNumber()}_${label}`;
  }
}

function begin(work: Promise<void>): Promise<void> {
  work.catch(() => {});
  return work;
}

export type LoadedValue = string | number | bigint | boolean | null | undefined;

/** Binds all rows as one JSON text, because binding each value separately took three times as long. */
async function loadRows(
  db: Database,
  name: string,
  columns: readonly ColumnType[],
  rows: readonly Record<string, LoadedValue>[],
): Promise<void> {
  const texts = rows.map((row) => Object.fromEntries(columns.map((column) => [column.name, toText(row[column.name])])));
  const structure = [Object.fromEntries(columns.map((column) => [column.name, 'VARCHAR']))];
  const casts = columns.map((column) => {
    const quoted = quoteIdentifier(column.name);
    return `CAST(loaded.${quoted} AS ${column.type}) AS ${quoted}`;
  });
  await db.run(
    `CREATE TABLE ${quoteIdentifier(name)} AS SELECT ${casts.join(', ')}
      FROM (SELECT unnest(from_json($1, ${quoteLiteral(JSON.stringify(structure))})) AS loaded)`,
    [JSON.stringify(texts)],
  );
}

/** Converts a value to text. Replaces lone surrogates, which text in DuckDB can't contain. */
function toText(value: LoadedValue): string | null {
  return value === null || value === undefined ? null : String(value).replaceAll(/\p{Surrogate}/gu, '\u{fffd}');
}
