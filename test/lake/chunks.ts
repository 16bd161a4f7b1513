import { open } from 'node:fs/promises';
import { readBytes, readFooter } from '../../src/lake/parquet-footer.js';

/** The bytes of a column of a row group, and of its Bloom filter, as texts. */
interface ChunkBytes {
  name: string;
  pages: string;
  bloom: string | undefined;
}

/** The columns of a file by row group. */
export async function readChunks(path: string): Promise<ChunkBytes[][]> {
  const file = await open(path);
  try {
    const { groups } = await readFooter(file);
    const read = async ({ start, end }: { start: number; end: number }) =>
      (await readBytes(file, start, end)).toString('base64');
    const readGroup = ({ chunks }: (typeof groups)[number]) =>
      Promise.all(
        chunks.map(async (chunk) => ({
          name: chunk.name,
          pages: await read(chunk),
          bloom: chunk.bloom && (await read(chunk.bloom)),
        })),
      );
    return await Promise.all(groups.map(readGroup));
  } finally {
    await file.close();
  }
}
