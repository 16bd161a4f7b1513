import type { TableName } from '../../tables/table.js';
import type { OptionSpec } from '../describe-commands.js';
import { type Completion, FILES } from './complete.js';

/** Options whose values are paths. */
const PATHS = [
  ...['lake', 'output', 'file', 'checks', 'keep', 'pipeline', 'fx', 'data', 'changes'],
  ...['list', 'state', 'cache', 'metrics', 'manifests'],
];

/** Where the lake has the values of an option; a second column says what a value means. */
const LAKE_VALUES: Record<string, { table: TableName; sql: string }> = {
  'own-site': { table: 'sites', sql: 'SELECT site_id, name FROM sites WHERE is_current ORDER BY name' },
  currency: { table: 'items', sql: 'SELECT DISTINCT currency FROM items WHERE currency IS NOT NULL ORDER BY 1' },
  category: {
    table: 'items',
    sql: 'SELECT DISTINCT category_slug FROM items WHERE category_slug IS NOT NULL ORDER BY 1',
  },
  brand: {
    table: 'items',
    sql: 'SELECT brand FROM items WHERE brand IS NOT NULL GROUP BY ALL ORDER BY count(*) DESC, 1',
  },
};

/** Nobody reads more in a shell, or waits longer. */
const MOST_VALUES = 500;
const MOST_MS = 2000;

/** Values that no declaration lists. Nothing if they can't be had: completion is no place for errors. */
export async function lookUp({ name, type }: OptionSpec, words: readonly string[]): Promise<Completion[]> {
  if (PATHS.includes(name)) return [FILES];
  if (name === 'select') return listChecks();
  const values = LAKE_VALUES[name];
  if (values === undefined || type !== 'string') return [];
  return readLakeValues(values, words).catch(() => []);
}

async function listChecks(): Promise<Completion[]> {
  const { loadChecks } = await import('../../check/load.js');
  return (await loadChecks()).map(({ name, description }) => ({ value: name, meaning: description }));
}

async function readLakeValues(
  { table, sql }: { table: TableName; sql: string },
  words: readonly string[],
): Promise<Completion[]> {
  const [{ readLake }, { findTarget }] = await Promise.all([import('../read-lake.js'), import('../reading-target.js')]);
  const at = words.indexOf('--lake');
  const lake = at < 0 ? undefined : words[at + 1];
  const pipeline = words.find((word) => /\.ya?ml$/u.test(word));
  const { lake: path } = await findTarget({ lake, pipeline }, process.env);
  const options = { path, tables: () => [table], signal: AbortSignal.timeout(MOST_MS) };
  return readLake(options, async ({ db }) =>
    (await db.rows(`${sql} LIMIT ${MOST_VALUES}`)).map((row) => {
      const [value, meaning] = Object.values(row);
      return { value: String(value), meaning: meaning == null ? undefined : String(meaning) };
    }),
  );
}
