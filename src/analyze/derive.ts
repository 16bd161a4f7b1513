import { createHash } from 'node:crypto';
import { readModel } from '../duckdb/model-sql.js';
import { DERIVED_TABLES, type DerivedTableName, describeDerived, type TableName } from '../tables/table.js';
import { readAnalysis } from './analysis.js';

/** A table that follows from others, and the query that makes it. */
export interface DerivedSelect {
  table: DerivedTableName;
  reads: readonly TableName[];
  byProduct: boolean;
  /** Gives the columns of `schemas/<table>.yaml`, in their order and types. Its `run_id` is the DuckDB variable `run_id`. */
  select: string;
  /** Tells the query from another one: a hash of its text and of the macros. */
  query: bigint;
}

/** The derived tables in levels: the tables of a level read none of their own level or of a later one. */
export function listDerivedLevels(): DerivedSelect[][] {
  return sortIntoLevels(
    DERIVED_TABLES.map((table) => {
      const { reads, byProduct, analysis } = describeDerived(table);
      const select = analysis === undefined ? readModel(table) : readAnalysis(analysis);
      return { table, reads, byProduct, select, query: hashQuery(select) };
    }),
  );
}

/** 48 bits: every reader of the log takes such a number. */
function hashQuery(select: string): bigint {
  const digest = createHash('sha256').update(readModel('macros')).update(select).digest();
  return BigInt(digest.readUIntBE(0, 6));
}

/** The derived tables, each behind those that it reads. */
export function derivedSelects(): DerivedSelect[] {
  return listDerivedLevels().flat();
}

/** @throws Error when tables read each other in a circle */
function sortIntoLevels<T extends { table: TableName; reads: readonly TableName[] }>(tables: T[]): T[][] {
  const levels: T[][] = [];
  let left = tables;
  while (left.length > 0) {
    const waiting = new Set(left.map(({ table }) => table));
    const level = left.filter(({ reads }) => !reads.some((read) => waiting.has(read)));
    if (level.length === 0) throw new Error(`derived tables read each other: ${[...waiting].join(', ')}`);
    levels.push(level);
    left = left.filter((one) => !level.includes(one));
  }
  return levels;
}
