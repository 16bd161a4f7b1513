import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { DuckDBMapValue, type DuckDBValue } from '@duckdb/node-api';
import pLimit from 'p-limit';
import { PricelakeError } from '../io/errors.js';
import { runSideBySide, settleAll } from '../io/side-by-side.js';
import type { Database } from '../sql/connection.js';
import { quoteIdentifier, quoteLiteral } from '../sql/quote.js';
import { type Lake, privatePath } from '../tables/layout.js';
import { LIST_ELEMENT_ID, loadTableSchema, type TableSchema } from '../tables/schemas.js';
import type { StagedFile, TableName } from '../tables/table.js';
import { sealDataFile } from './data-file.js';
import { explainMemory } from './faults.js';
import { nameDataFile } from './file-name.js';
import { addPartitionKeys, type PartitionTexts, partitionKey, readPartitionValues } from './partition-value.js';
import { TARGET_BYTES } from './plan-compaction.js';
import { type Parting, planStage } from './slices.js';
import { GROUP_ROWS } from './splice-candidates.js';
import { type ColumnStatistics, writeStats } from './stats.js';

export interface Stage extends Parting {
  table: TableName;
  runId: string;
  /** Columns to partition by; default: as schemas/<table>.yaml says. */
  partitionBy?: string[];
  metadata?: Record<string, string>;
  inLanes?: boolean;
  /** True to write a file also if there are no rows. */
  keepsEmpty?: boolean;
  /** Size at which a file of an unpartitioned table ends. */
  targetBytes?: number;
}

/** Level 1 gives files as small as DuckDB's default 3, for a third less CPU time. */
const ZSTD_LEVEL = 1;
const CONCURRENCY = 8;

/** Written files, and a promise of them with checksums when all are synced and checked. */
export interface WrittenFiles {
  files: StagedFile[];
  /** @throws PricelakeError `lake_invalid` when a file fails its check. */
  sealed: Promise<StagedFile[]>;
}

/**
 * Writes the rows of `select` as zstd Parquet under `_pricelake/staging/<runId>/<table>/`, synced and checked, ready
 * for `commitTable`. It casts nothing. No rows: no file.
 * @throws PricelakeError `lake_invalid` when the select's columns are not the table's or a file fails its check,
 * `config` when a partition value can't be kept.
 */
export async function stageTable(db: Database, lake: Lake, stage: Stage): Promise<StagedFile[]> {
  const { sealed } = await beginStage(db, lake, stage);
  return sealed;
}

/** As `stageTable`, but it returns before syncs and checks are done. The caller must await `sealed`. */
export async function beginStage(db: Database, lake: Lake, stage: Stage): Promise<WrittenFiles> {
  const schema = loadTableSchema(stage.table);
  const partitionBy = stage.partitionBy ?? schema.partitionBy;
  await checkColumns(db, schema, stage.select);
  checkPartitionColumns(schema, partitionBy);
  const { folder, within } = planFolder(lake, stage);
  const { files, sealing } = await within(() => writeFiles(db, schema, stage, partitionBy, folder));
  const sealed = within(() => settleAll(sealing));
  sealed.catch(() => {}); // the caller gets the error from `sealed`
  return { files, sealed };
}

interface StageFolder {
  folder: string;
  /** Does work on the files, and removes the folder if it fails. */
  within<T>(work: () => Promise<T>): Promise<T>;
}

/** Each stage has a folder, so that a failed stage is removed whole. */
export function planFolder(lake: Lake, { table, runId }: Pick<Stage, 'table' | 'runId'>): StageFolder {
  const folder = privatePath(lake, 'staging', runId, table, randomUUID());
  return {
    folder,
    async within(work) {
      try {
        return await explainMemory(`${table}: writing the rows`, work);
      } catch (error) {
        await rm(folder, { recursive: true, force: true });
        throw error;
      }
    },
  };
}

async function writeFiles(db: Database, schema: TableSchema, stage: Stage, wanted: string[], folder: string) {
  await mkdir(folder, { recursive: true });
  const { partitionBy, texts, slices } = await planStage(db, schema, stage, wanted);
  const columns = schema.columns.map(({ name }) => name);
  const limit = pLimit(CONCURRENCY);
  const files: StagedFile[] = [];
  const sealing: Promise<StagedFile>[] = [];
  const write = async (select: string) => {
    const written = await db.rows(writeCopy(schema, stage, select, partitionBy, folder));
    // The files' names need no sync: a commit renames them and syncs the folders they come to.
    for (const row of written) {
      const file = describeFile(schema, partitionBy, row, texts);
      if (file.rows === 0n && stage.keepsEmpty !== true) {
        await rm(file.stagedAt);
        continue;
      }
      const { stagedAt, rows, bytes } = file;
      const sealed = limit(async () => ({ ...file, sha256: await sealDataFile(stagedAt, { rows, bytes, columns }) }));
      sealed.catch(() => {}); // reported when all are
      files.push(file);
      sealing.push(sealed);
    }
  };
  const { inLanes = false } = stage;
  try {
    await runSideBySide(inLanes ? slices.length : 1, slices, (slice) =>
      inLanes && slices.length > 1 ? db.inLane(() => write(slice)) : write(slice),
    );
  } catch (error) {
    await Promise.allSettled(sealing);
    throw error;
  }
  return { files, sealing };
}

/** Requires the contract's names, types and order. */
async function checkColumns(db: Database, schema: TableSchema, select: string): Promise<void> {
  const described = await db.rows(`DESCRIBE (${select}\n)`);
  const found = described.map(({ column_name, column_type }) => `${column_name} ${column_type}`);
  const wanted = schema.columns.map(({ name, type }) => `${name} ${type}`);
  const odd = [...found.keys(), ...wanted.keys()].find((index) => found[index] !== wanted[index]);
  if (odd === undefined) return;
  const [is, due] = [found[odd] ?? 'nothing', wanted[odd] ?? 'nothing'];
  const what = `column ${odd + 1} of the select is ${is}; schemas/${schema.table}.yaml says ${due}`;
  throw new PricelakeError('lake_invalid', `${schema.table}: ${what}`);
}

function checkPartitionColumns(schema: TableSchema, partitionBy: string[]): void {
  for (const name of partitionBy) {
    const column = schema.columns.find((column) => column.name === name);
    if (column !== undefined && column.type !== 'VARCHAR[]') continue;
    const names = schema.columns.filter((column) => column.type !== 'VARCHAR[]').map((column) => column.name);
    throw new PricelakeError(
      'config',
      `partitionBy "${name}" is not a column of ${schema.table} that files can be partitioned by (${names.join(', ')})`,
    );
  }
}

function writeCopy(schema: TableSchema, stage: Stage, select: string, partitionBy: string[], folder: string): string {
  // DuckDB can't split the files of a partition by size.
  const layout =
    partitionBy.length > 0
      ? `PARTITION_BY (${partitionBy.map((_, index) => partitionKey(index)).join(', ')}), WRITE_PARTITION_COLUMNS false`
      : `FILE_SIZE_BYTES ${BigInt(stage.targetBytes ?? TARGET_BYTES)}, WRITE_EMPTY_FILE ${stage.keepsEmpty === true}`;
  return `COPY (${addPartitionKeys(schema, partitionBy, select)}\n) TO ${quoteLiteral(folder)} (${writeFileOptions(stage, GROUP_ROWS)},
    FIELD_IDS ${writeFieldIds(schema)}, APPEND true, FILENAME_PATTERN '{uuidv7}', ${layout}, RETURN_STATS true)`;
}

/** Ids of the columns. Parquet takes them, and table formats with ids need them. */
function writeFieldIds({ columns }: TableSchema): string {
  const ids = columns.map(({ name, type }, index) => {
    const id = BigInt(index + 1);
    const own = type === 'VARCHAR[]' ? `{__duckdb_field_id: ${id}, element: ${id + LIST_ELEMENT_ID}}` : String(id);
    return `${quoteIdentifier(name)}: ${own}`;
  });
  return `{${ids.join(', ')}}`;
}

/** Options of a COPY of a data file: its form, and the key-value metadata that each file has. */
export function writeFileOptions(
  { table, runId, metadata }: Pick<Stage, 'table' | 'runId' | 'metadata'>,
  groupRows: number,
): string {
  const all = { 'pricelake.table': table, 'pricelake.run_id': runId, ...metadata };
  const pairs = Object.entries(all).map(([key, value]) => `${quoteIdentifier(key)}: ${quoteLiteral(value)}`);
  return `FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL ${ZSTD_LEVEL}, ROW_GROUP_SIZE ${groupRows},
    KV_METADATA {${pairs.join(', ')}}`;
}

/** One row of RETURN_STATS → the file. */
function describeFile(
  schema: TableSchema,
  partitionBy: string[],
  row: Record<string, DuckDBValue>,
  texts: PartitionTexts,
): StagedFile {
  const stagedAt = String(row.filename);
  const rows = BigInt(String(row.count));
  const statistics = readStatistics(schema, readMap(row.column_statistics));
  const partitionValues = readPartitionValues(schema, partitionBy, readMap(row.partition_keys), texts);
  return {
    stagedAt,
    path: nameDataFile(partitionValues, basename(stagedAt)),
    rows,
    bytes: Number(row.file_size_bytes),
    partitionValues,
    stats: writeStats(schema, partitionBy, rows, statistics),
    modifiedAt: Date.now(),
  };
}

function readStatistics(schema: TableSchema, statistics: Map<string, DuckDBValue>): Map<string, ColumnStatistics> {
  const read = (name: string) => readMap(statistics.get(quoteIdentifier(name)));
  return new Map(schema.columns.map(({ name }) => [name, new Map([...read(name)].map(([k, v]) => [k, String(v)]))]));
}

function readMap(value: DuckDBValue | undefined): Map<string, DuckDBValue> {
  if (!(value instanceof DuckDBMapValue)) return new Map();
  return new Map(value.entries.map((entry) => [String(entry.key), entry.value]));
}
