/** Commits as delta-rs and Spark write them: files without partition columns, an entry of their own in the log. */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { encodeLogPath } from '../../src/lake/delta-actions.js';
import { logPath } from '../../src/lake/delta-log.js';
import { openLake } from '../../src/lake/lake.js';
import { listDataFiles } from '../../src/lake/list-files.js';
import { readTable } from '../../src/lake/read.js';
import { Database } from '../../src/sql/connection.js';
import { quoteIdentifier, quoteLiteral } from '../../src/sql/quote.js';
import { tableRelation, toRelationFile } from '../../src/sql/table-relation.js';
import { type Lake, tablePath } from '../../src/tables/layout.js';
import { loadTableSchema } from '../../src/tables/schemas.js';
import type { DataFile, TableName } from '../../src/tables/table.js';

export const ENGINE = 'delta-rs:py-1.6.6';

type Action = Record<string, unknown>;

/** Writes the table's next version; returns its number. */
export async function commitForeign(
  root: string,
  table: TableName,
  operation: string,
  actions: Action[] = [],
): Promise<bigint> {
  const lake = await openLake(root, { create: false });
  const version = (await readTable(lake, table)).version + 1n;
  const commitInfo = { timestamp: Date.now(), operation, operationParameters: {}, engineInfo: ENGINE };
  const lines = [{ commitInfo }, ...actions].map((action) => `${JSON.stringify(action)}\n`);
  await writeFile(logPath(lake, table, version, 'json'), lines.join(''));
  return version;
}

/** OPTIMIZE: one file a partition, of the same rows. */
export async function optimize(root: string, table: TableName): Promise<bigint> {
  const lake = await openLake(root, { create: false });
  const { files } = await readTable(lake, table);
  return commitForeign(root, table, 'OPTIMIZE', await rewrite(lake, table, files, { dataChange: false }));
}

/** DELETE: the files that hold such rows are written again without them. */
export async function deleteRows(root: string, table: TableName, where: string): Promise<bigint> {
  const lake = await openLake(root, { create: false });
  const { files } = await readTable(lake, table);
  const rest = { dataChange: true, where: `NOT coalesce(${where}, false)` };
  return commitForeign(root, table, 'DELETE', await rewrite(lake, table, files, rest));
}

/** VACUUM at 0 hours: two entries without a file, and superseded files gone. */
export async function vacuum(root: string, table: TableName): Promise<bigint> {
  const lake = await openLake(root, { create: false });
  const { files } = await readTable(lake, table);
  const named = new Set(files.map((file) => file.path));
  await commitForeign(root, table, 'VACUUM START');
  for (const name of await listDataFiles(tablePath(lake, table))) {
    if (!named.has(name)) await rm(tablePath(lake, table, name));
  }
  return commitForeign(root, table, 'VACUUM END');
}

async function rewrite(
  lake: Lake,
  table: TableName,
  files: DataFile[],
  { dataChange, where = 'true' }: { dataChange: boolean; where?: string },
): Promise<Action[]> {
  const groups = new Map<string, DataFile[]>();
  for (const file of files) {
    const key = JSON.stringify(file.partitionValues);
    groups.set(key, [...(groups.get(key) ?? []), file]);
  }
  const db = await Database.open();
  try {
    const actions: Action[] = files.map((file) => ({
      remove: {
        path: encodeLogPath(file.path),
        dataChange,
        deletionTimestamp: Date.now(),
        extendedFileMetadata: true,
        partitionValues: file.partitionValues,
        size: file.bytes,
      },
    }));
    for (const group of groups.values()) {
      const add = await writeForeignFile(db, lake, table, group, where);
      if (add !== undefined) actions.push({ add: { ...add, dataChange } });
    }
    return actions;
  } finally {
    await db.close();
  }
}

/** Writes a file as other programs do, with partition columns only in the log. */
async function writeForeignFile(db: Database, lake: Lake, table: TableName, group: DataFile[], where: string) {
  const [first] = group;
  if (first === undefined) return undefined;
  const { partitionValues } = first;
  const columns = loadTableSchema(table).columns.map(({ name }) => name);
  const kept = columns.filter((name) => !(name in partitionValues)).map(quoteIdentifier);
  const sources = group.map((file) => toRelationFile(file, tablePath(lake, table, file.path)));
  const select = `SELECT ${kept.join(', ')} FROM ${tableRelation(table, sources)} WHERE ${where}`;
  const numRecords = Number((await db.row(`SELECT count(*) AS n FROM (${select})`))?.n);
  if (numRecords === 0) return undefined;
  const folders = Object.entries(partitionValues).map(
    ([column, value]) => `${column}=${value ?? '__HIVE_DEFAULT_PARTITION__'}`,
  );
  const name = path.posix.join(...folders, `part-00000-${randomUUID()}-c000.zstd.parquet`);
  const file = tablePath(lake, table, name);
  await mkdir(path.dirname(file), { recursive: true });
  await db.run(`COPY (${select}) TO ${quoteLiteral(file)} (FORMAT parquet, COMPRESSION zstd)`);
  const { size } = await stat(file);
  const stats = JSON.stringify({ numRecords });
  return { path: encodeLogPath(name), partitionValues, size, modificationTime: Date.now(), stats };
}

/** Names of a table's log entries, in order. */
export async function listLog(root: string, table: TableName): Promise<string[]> {
  const folder = path.join(root, table, '_delta_log');
  return (await readdir(folder))
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => path.join(folder, name));
}
