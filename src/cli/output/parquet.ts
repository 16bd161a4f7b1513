import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { DuckDBTypeId } from '@duckdb/node-api';
import { quoteIdentifier, quoteLiteral } from '../../sql/quote.js';
import type { Output } from './output.js';
import type { ResultColumn, ResultSet, ResultSql } from './result-set.js';

/**
 * DuckDB writes the file, so no row passes through JavaScript. Its metadata holds `attribution`, the licence texts as a
 * JSON array. Returns the number of rows.
 */
export async function writeParquet(
  { columns, credits }: ResultSet,
  relation: ResultSql,
  file: string,
): Promise<bigint> {
  const path = resolve(file);
  const metadata = `KV_METADATA {attribution: ${quoteLiteral(JSON.stringify(credits))}}`;
  try {
    const row = await relation.db.row(
      `COPY (SELECT * ${replaceWide(columns)} FROM ${relation.from}) TO ${quoteLiteral(path)}
       (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false, ${metadata})`,
    );
    return row?.Count as bigint;
  } catch (error) {
    // Half a file would look damaged.
    await rm(path, { force: true });
    throw error;
  }
}

/** Writes to stdout from a file, because DuckDB writes Parquet only to files. */
export async function streamParquet(result: ResultSet, relation: ResultSql, output: Output): Promise<bigint> {
  const { scratch } = relation;
  try {
    const rows = await writeParquet(result, relation, scratch);
    for await (const chunk of createReadStream(scratch)) if (!(await output.write(chunk as Uint8Array))) break;
    return rows;
  } finally {
    await rm(scratch, { force: true });
  }
}

/** DuckDB would write 128-bit integers, such as sums of BIGINT, as DOUBLE. As DECIMAL they stay exact. */
function replaceWide(columns: ResultColumn[]): string {
  const wide = columns
    .filter(({ type }) => type.typeId === DuckDBTypeId.HUGEINT || type.typeId === DuckDBTypeId.UHUGEINT)
    .map(({ name }) => `CAST(${quoteIdentifier(name)} AS DECIMAL(38, 0)) AS ${quoteIdentifier(name)}`);
  return wide.length === 0 ? '' : `REPLACE (${wide.join(', ')})`;
}
