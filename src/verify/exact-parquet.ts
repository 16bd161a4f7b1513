import {
  asyncBufferFromFile,
  type FileMetaData,
  parquetMetadataAsync,
  parquetRead,
  parquetReadObjects,
  parquetSchema,
} from 'hyparquet';
import { compressors } from 'hyparquet-compressors';

/**
 * A value as it is in the file, nothing rounded: int64 and the units of a decimal as bigint, times as microseconds
 * since 1970 (bigint), days since 1970 (number), texts as their bytes.
 */
export type ExactValue = bigint | number | boolean | Uint8Array | null | undefined | ExactValue[];

/** A Parquet file read by hyparquet, which shares no code with the writer. */
export interface ExactFile {
  /** Rows of each row group. */
  groups: number[];
  /** Names of its columns. */
  columns: ReadonlySet<string>;
  /** All values of a column in a row group. */
  readColumn(group: number, column: string): Promise<ExactValue[]>;
}

/** Types are left as they are: hyparquet would make doubles and Dates of them. */
const EXACT = {
  timestampFromMicroseconds: (micros: bigint) => micros,
  dateFromDays: (days: number) => days,
  stringFromBytes: (bytes: Uint8Array) => bytes,
};

/** Opens a file and reads its footer. */
export async function openExactFile(path: string): Promise<ExactFile> {
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  forgetDecimals(metadata);
  const groups = metadata.row_groups.map((group) => Number(group.num_rows));
  const columns = new Set(parquetSchema(metadata).children.map(({ element }) => element.name));
  return {
    groups,
    columns,
    async readColumn(group, column) {
      const rowStart = groups.slice(0, group).reduce((sum, rows) => sum + rows, 0);
      const rowEnd = rowStart + (groups[group] ?? 0);
      const chunks: ExactValue[][] = [];
      await parquetRead({
        ...{ file, metadata, compressors, rowStart, rowEnd },
        columns: [column],
        parsers: EXACT,
        onChunk: ({ columnData }) => chunks.push(columnData as ExactValue[]),
      });
      return chunks.length === 1 ? (chunks[0] as ExactValue[]) : chunks.flatMap((chunk) => Array.from(chunk));
    },
  };
}

/** A decimal without its annotation is the integer that it is stored as. */
function forgetDecimals(metadata: FileMetaData): void {
  for (const element of metadata.schema) {
    if (element.converted_type !== 'DECIMAL') continue;
    delete element.converted_type;
    delete element.logical_type;
  }
}

/** A small file can hold any number of rows. */
const MAX_ROWS = 2_000_000n;

/** All rows of a small file as objects. */
export async function readRows(path: string): Promise<Record<string, unknown>[]> {
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  if (metadata.num_rows > MAX_ROWS) throw new Error(`has ${metadata.num_rows} rows`);
  return parquetReadObjects({ file, metadata, compressors });
}
