import pLimit from 'p-limit';
import { loadTableSchema } from '../tables/schemas.js';
import type { DataFile, TableState } from '../tables/table.js';
import { readFooterFacts } from './data-file.js';
import { type Lake, tablePath } from './layout.js';
import { requireFiles } from './partial.js';

/** Footers read side by side. */
const CONCURRENCY = 8;

/**
 * The files of a table that are older than some of its columns, by their footers → the columns that they lack. Delta's
 * readers give null for them; a loader that reads files one by one has to know.
 */
export async function findOlderFiles(lake: Lake, { table, files }: TableState): Promise<Map<DataFile, string[]>> {
  await requireFiles(lake, table, files);
  const { columns } = loadTableSchema(table);
  const limit = pLimit(CONCURRENCY);
  const lacking = await Promise.all(
    files.map((file) =>
      limit(async (): Promise<[DataFile, string[]]> => {
        const footer = await readFooterFacts(tablePath(lake, table, file.path));
        return [file, columns.map(({ name }) => name).filter((name) => !footer.columns.includes(name))];
      }),
    ),
  );
  return new Map(lacking.filter(([, names]) => names.length > 0));
}
