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
 * A value in a file, without rounding. Integers are bigints, decimals are bigints in units of their last decimal place,
 * times are microseconds since 1970 (bigint), dates are days since 1970 (number), and strings are bytes.
 */
export type ExactValue = bigint | number | boolean | Uint8Array | null | undefined | ExactValue[];

/** A Parquet file, read with hyparquet. DuckDB wrote the file, so it might not notice its own errors. */
export interface ExactFile {
  /** The number of rows in each row group. */
  groups: number[];
  columns: ReadonlySet<string>;
  readColumn(group: number, column: string): Promise<ExactValue[]>;
}

/** Parsers that prevent hyparquet from converting values to doubles and Dates. */
const EXACT = {
  timestampFromMicroseconds: (micros: bigint) => micros,
  dateFromDays: (days: number) => days,
  stringFromBytes: (bytes: Uint8Array) => bytes,
};

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

/** Removes the decimal type annotations, so that hyparquet returns the integers that the file stores. */
function forgetDecimals(metadata: FileMetaData): void {
  for (const element of metadata.schema) {
    if (element.converted_type !== 'DECIMAL') continue;
    delete element.converted_type;
    delete element.logical_type;
  }
}

/** The maximum number of rows to read. Even a small file can contain more rows than fit in memory. */
const MAX_ROWS = 2_000_000n;

/** Reads all rows of a small file as objects. @throws Error if it has more than 2,000,000 rows */
export async function readRows(path: string): Promise<Record<string, unknown>[]> {
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  if (metadata.num_rows > MAX_ROWS) throw new Error(`has ${metadata.num_rows} rows`);
  return parquetReadObjects({ file, metadata, compressors });
}
