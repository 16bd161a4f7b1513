import { open } from 'node:fs/promises';
import { createRequire } from 'node:module';

/** The parts of a Parquet footer that `verify` compares with the log. */
export interface Footer {
  rows: bigint;
  rowsInGroups: bigint;
  columns: string[];
  /** The numbers of the codecs in parquet.thrift. */
  codecs: number[];
}

export const ZSTD = 6;

/**
 * Reads the footer of a Parquet file with parquetjs-lite. Runs read footers with hyparquet, so a bug in either library
 * is noticed.
 * @throws Error if the footer can't be read
 */
export async function readFooter(path: string): Promise<Footer> {
  const { ParquetEnvelopeReader } = await loadReader();
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const read = async (offset: number, length: number) => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset);
      if (bytesRead !== length) throw new Error(`read ${bytesRead} of ${length} bytes at ${offset}`);
      return buffer;
    };
    const reader = new ParquetEnvelopeReader(read, async () => {}, size);
    await reader.readHeader();
    const { schema, num_rows, row_groups } = await reader.readFooter();
    const columns: string[] = [];
    for (let i = 1; i < schema.length; i += countElements(schema, i)) columns.push(schema[i]?.name ?? '');
    const rowsInGroups = row_groups.reduce((sum, group) => sum + BigInt(Number(group.num_rows)), 0n);
    const codecs = new Set(row_groups.flatMap((group) => group.columns.map((chunk) => chunk.meta_data.codec)));
    return { rows: BigInt(Number(num_rows)), rowsInGroups, columns, codecs: [...codecs] };
  } finally {
    await file.close();
  }
}

let loaded: Promise<typeof import('parquetjs-lite')> | undefined;

async function loadReader() {
  if (loaded === undefined) {
    allocateInt64();
    loaded = import('parquetjs-lite');
  }
  return (await loaded).default;
}

/**
 * Replaces the deprecated `new Buffer`, with which parquetjs-lite allocates int64 values. Node would inspect the stack
 * for up to ten thousand of these calls per process.
 */
function allocateInt64(): void {
  const parquet = createRequire(import.meta.url).resolve('parquetjs-lite');
  const { prototype } = createRequire(parquet)('node-int64') as { prototype: object };
  Object.defineProperty(prototype, 'buffer', {
    configurable: true,
    get: () => Buffer.alloc(8),
    set(this: object, value: Buffer) {
      Object.defineProperty(this, 'buffer', { value, writable: true });
    },
  });
}

/** Counts the elements of the schema's subtree that starts at `index`. A schema is a list in depth-first order. */
function countElements(schema: { num_children: number | null }[], index: number): number {
  let count = 1;
  for (let child = 0; child < (schema[index]?.num_children ?? 0); child += 1) {
    count += countElements(schema, index + count);
  }
  return count;
}
