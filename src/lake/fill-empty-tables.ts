import { randomUUID } from 'node:crypto';
import { mkdir, stat } from 'node:fs/promises';
import type { Database } from '../sql/connection.js';
import { quoteLiteral } from '../sql/quote.js';
import { writeEmptySelect } from '../sql/table-relation.js';
import { type Lake, privatePath } from '../tables/layout.js';
import { loadTableSchema } from '../tables/schemas.js';
import { type StagedFile, TABLE_NAMES, type TableName } from '../tables/table.js';
import { type CommitInfo, commitTable } from './commit.js';
import { sealDataFile } from './data-file.js';
import { readLog } from './delta-log.js';
import { readTable } from './read.js';
import { writeFileMetadata } from './stage.js';
import { writeStats } from './stats.js';

export interface Filling {
  commit: CommitInfo;
  /** Further key-value metadata of each file. */
  metadata: Record<string, string>;
  /** Default: all. */
  tables?: readonly TableName[];
  /** Columns by which a table that is not there yet is partitioned; default: as schemas/<table>.yaml says. */
  partitionBy?: Partial<Record<TableName, string[] | undefined>>;
}

/**
 * Gives every table without rows a file without rows, so that a plain read finds its columns and types instead of
 * nothing. The commit that brings the first rows removes it.
 */
export async function fillEmptyTables(db: Database, lake: Lake, filling: Filling): Promise<TableName[]> {
  const filled: TableName[] = [];
  for (const table of filling.tables ?? TABLE_NAMES) {
    if ((await readTable(lake, table)).files.length > 0) continue;
    const add = [await stageEmptyFile(db, lake, table, filling)];
    await commitTable(lake, { table, add, remove: [], applied: {}, dataChange: false }, filling.commit);
    filled.push(table);
  }
  return filled;
}

async function stageEmptyFile(db: Database, lake: Lake, table: TableName, filling: Filling): Promise<StagedFile> {
  const schema = loadTableSchema(table);
  const known = (await readLog(lake, table)).metaData?.partitionColumns;
  const partitionBy = known ?? filling.partitionBy?.[table] ?? schema.partitionBy;
  const { runId } = filling.commit;
  const folder = privatePath(lake, 'staging', runId, table, randomUUID());
  const path = `empty.${randomUUID()}.parquet`;
  const stagedAt = `${folder}/${path}`;
  await mkdir(folder, { recursive: true });
  await db.run(`COPY (${writeEmptySelect(table)}) TO ${quoteLiteral(stagedAt)} (FORMAT parquet, COMPRESSION zstd,
    ${writeFileMetadata(table, runId, filling.metadata)})`);
  const { size: bytes } = await stat(stagedAt);
  const columns = schema.columns.map(({ name }) => name);
  const sha256 = await sealDataFile(stagedAt, { rows: 0n, bytes, columns });
  const partitionValues = Object.fromEntries(partitionBy.map((name) => [name, null]));
  const stats = writeStats(schema, partitionBy, 0n, new Map());
  return { stagedAt, path, rows: 0n, bytes, partitionValues, stats, modifiedAt: filling.commit.at.getTime(), sha256 };
}
