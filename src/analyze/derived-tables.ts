import { createHash } from 'node:crypto';
import { bindQuery, readAnalysis, readModel, type Source } from '../sql/model.js';
import { type Sql, writeTyped } from '../sql/sql.js';
import { DERIVED_TABLES, type DerivedTableName, describeDerived, type TableName } from '../tables/table.js';

export interface DerivedTable {
  table: DerivedTableName;
  reads: readonly TableName[];
  by: ReturnType<typeof describeDerived>['by'];
  /**
   * The query returns the columns of `schemas/<table>.yaml` in their order and types. It reads `run_id` from a
   * variable.
   */
  query: string;
  /** A hash of the query's text and of the macros, which shows whether the query has changed. */
  hash: bigint;
}

/** The derived tables, each after those that it reads. */
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
    if (source === undefined) throw new Error(`the query reads ${name}, which is not given`);
    return [name, source];
  });
  return bindQuery(query, Object.fromEntries(read), { run_id: writeTyped('VARCHAR', runId) });
}

/** Hashes to 48 bits, because every reader of the log can hold such a number. */
function hashQuery(query: string): bigint {
  const digest = createHash('sha256').update(readModel('macros')).update(query).digest();
  return BigInt(digest.readUIntBE(0, 6));
}

/** @throws Error if tables read each other in a cycle */
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
