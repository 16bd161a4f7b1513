import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { DuckDBMapValue, type DuckDBValue } from '@duckdb/node-api';
import { PricelakeError } from '../io/errors.js';
import type { Database } from '../sql/connection.js';
import { quoteIdentifier, quoteLiteral } from '../sql/quote.js';
import { LIST_ELEMENT_ID, loadTableSchema, type TableSchema } from '../tables/schemas.js';
import type { StagedFile, TableName } from '../tables/table.js';
import { sealDataFile } from './data-file.js';
import { nameDataFile } from './file-name.js';
import { type FileStatistics, readStatistics } from './footer-statistics.js';
import { addPartitionKeys, type PartitionTexts, partitionKey, readPartitionValues } from './partition-value.js';
import { TARGET_BYTES } from './slices.js';
import { writeStats } from './stats.js';

export interface FileForm {
  table: TableName;
  runId: string;
  metadata?: Record<string, string> | undefined;
  /** True if a file must be written even if there are no rows. */
  keepsEmpty?: boolean | undefined;
  targetBytes?: number | undefined;
}

export interface SliceForm extends FileForm {
  partitionBy: string[];
  texts: PartitionTexts;
  folder: string;
}

/** The number of rows in each row group. Smaller groups hardly help readers, and make footers longer. */
export const GROUP_ROWS = 8192;

/** The compression level. Files are as small as with DuckDB's default level 3, but need a third less CPU time. */
const ZSTD_LEVEL = 1;

/** Throws if a query's columns or their order differ from the contract. @throws PricelakeError `lake_invalid` */
export async function checkColumns(db: Database, schema: TableSchema, select: string): Promise<void> {
  const described = await db.rows(`DESCRIBE (${select}\n)`);
  const found = described.map(({ column_name, column_type }) => `${column_name} ${column_type}`);
  const wanted = schema.columns.map(({ name, type }) => `${name} ${type}`);
  const odd = [...found.keys(), ...wanted.keys()].find((index) => found[index] !== wanted[index]);
  if (odd === undefined) return;
  const [is, due] = [found[odd] ?? 'nothing', wanted[odd] ?? 'nothing'];
  const what = `column ${odd + 1} of the select is ${is}; schemas/${schema.table}.yaml says ${due}`;
  throw new PricelakeError('lake_invalid', `${schema.table}: ${what}`);
}

export async function writeSlice(db: Database, form: SliceForm, select: string): Promise<StagedFile[]> {
  const schema = loadTableSchema(form.table);
  const files: StagedFile[] = [];
  // The folder isn't synced here, because the commit syncs the folders into which it moves the files.
  const rows = await db.rows(writeCopy(schema, form, select));
  const paths = rows.map(({ filename }) => String(filename));
  const statistics = await readStatistics(db, schema, paths);
  for (const row of rows) {
    const file = describeFile(schema, form, row, statistics);
    if (file.rows > 0n || form.keepsEmpty === true) files.push(file);
    else await rm(file.stagedAt);
  }
  return files;
}

/** Syncs a file and reads it back. Returns the file with its checksum. */
export async function sealFile({ columns }: TableSchema, file: StagedFile): Promise<StagedFile> {
  const { stagedAt, rows, bytes } = file;
  const sha256 = await sealDataFile(stagedAt, { rows, bytes, columns: columns.map(({ name }) => name) });
  return { ...file, sha256 };
}

function writeCopy(schema: TableSchema, form: SliceForm, select: string): string {
  const { partitionBy, folder, targetBytes = TARGET_BYTES, keepsEmpty } = form;
  // Sets a file size only for unpartitioned tables, because DuckDB can't split a partition into files of a given size.
  const layout =
    partitionBy.length > 0
      ? `PARTITION_BY (${partitionBy.map((_, index) => partitionKey(index)).join(', ')}), WRITE_PARTITION_COLUMNS false`
      : `FILE_SIZE_BYTES ${BigInt(targetBytes)}, WRITE_EMPTY_FILE ${keepsEmpty === true}`;
  return `COPY (${addPartitionKeys(schema, partitionBy, select)}\n) TO ${quoteLiteral(folder)} (${writeFileOptions(form)},
    FIELD_IDS ${writeFieldIds(schema)}, APPEND true, FILENAME_PATTERN '{uuidv7}', ${layout}, RETURN_STATS true)`;
}

function writeFieldIds({ columns }: TableSchema): string {
  const ids = columns.map(({ name, type }, index) => {
    const id = BigInt(index + 1);
    const own = type === 'VARCHAR[]' ? `{__duckdb_field_id: ${id}, element: ${id + LIST_ELEMENT_ID}}` : String(id);
    return `${quoteIdentifier(name)}: ${own}`;
  });
  return `{${ids.join(', ')}}`;
}

function writeFileOptions({ table, runId, metadata }: FileForm): string {
  const all = { 'pricelake.table': table, 'pricelake.run_id': runId, ...metadata };
  const pairs = Object.entries(all).map(([key, value]) => `${quoteIdentifier(key)}: ${quoteLiteral(value)}`);
  return `FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL ${ZSTD_LEVEL}, ROW_GROUP_SIZE ${GROUP_ROWS},
    KV_METADATA {${pairs.join(', ')}}`;
}

function describeFile(
  schema: TableSchema,
  { partitionBy, texts }: SliceForm,
  row: Record<string, DuckDBValue>,
  statistics: ReadonlyMap<string, FileStatistics>,
): StagedFile {
  const stagedAt = String(row.filename);
  const rows = BigInt(String(row.count));
  const partitionValues = readPartitionValues(schema, partitionBy, readMap(row.partition_keys), texts);
  return {
    stagedAt,
    path: nameDataFile(partitionValues, basename(stagedAt)),
    rows,
    bytes: Number(row.file_size_bytes),
    partitionValues,
    stats: writeStats(schema, partitionBy, rows, statistics.get(stagedAt) ?? new Map()),
    modifiedAt: Date.now(),
  };
}

function readMap(value: DuckDBValue | undefined): Map<string, DuckDBValue> {
  if (!(value instanceof DuckDBMapValue)) return new Map();
  return new Map(value.entries.map((entry) => [String(entry.key), entry.value]));
}
