import { createHash } from 'node:crypto';
import { bindQuery, readAnalysis, readModel, type Source } from '../sql/model.js';
import { type Sql, writeTyped } from '../sql/sql.js';
import { DERIVED_TABLES, type DerivedTableName, describeDerived, type TableName } from '../tables/table.js';

export interface DerivedTable {
  table: DerivedTableName;
  reads: readonly TableName[];
  by: ReturnType<typeof describeDerived>['by'];
  /**
   * A query that returns the columns of `schemas/<table>.yaml`, in the same order and with the same types. The query
   * reads `run_id` from a variable.
   */
  query: string;
  /** A hash of the query's text and of the macros, to detect changes. */
  hash: bigint;
}

/** Lists the derived tables. Each table comes after the tables that it depends on. */
export function listDerived(): DerivedTable[] {
  return sortByReads(
    DERIVED_TABLES.map((table) => {
      const { reads, by, analysis } = describeDerived(table);
      const query = analysis === undefined ? readModel(table) : readAnalysis(analysis);
      return { table, reads, by, query, hash: hashQuery(query) };
    }),
  );
}

export function selectDerived(
  { query, reads }: Pick<DerivedTable, 'query' | 'reads'>,
  tables: Readonly<Partial<Record<TableName, Source>>>,
  runId: string,
): Sql {
  const read = reads.map((name): [string, Source] => {
    const source = tables[name];
    if (source === undefined) throw new Error(`the query reads ${name}, but got no source for it`);
    return [name, source];
  });
  return bindQuery(query, Object.fromEntries(read), { run_id: writeTyped('VARCHAR', runId) });
}

/** Truncates the hash to 48 bits, because any program that reads the log can represent such a number exactly. */
function hashQuery(query: string): bigint {
  const digest = createHash('sha256').update(readModel('macros')).update(query).digest();
  return BigInt(digest.readUIntBE(0, 6));
}

/**
 * Sorts tables so that each table comes after the tables that it depends on.
 * @throws Error if the dependencies form a cycle
 */
export function sortByReads<T extends { table: TableName; reads: readonly TableName[] }>(tables: T[]): T[] {
  const sorted: T[] = [];
  let left = tables;
  while (left.length > 0) {
    const waiting = new Set(left.map(({ table }) => table));
    const ready = left.filter(({ reads }) => !reads.some((read) => waiting.has(read)));
    if (ready.length === 0) throw new Error(`derived tables read each other: ${[...waiting].join(', ')}`);
    sorted.push(...ready);
    left = left.filter((one) => !ready.includes(one));
  }
  return sorted;
}
