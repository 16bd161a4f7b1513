import type { OptionSpec } from '../describe-commands.js';
import { type Completion, FILES } from './complete.js';

/** Options whose values are paths. */
const PATHS = ['lake', 'output', 'file', 'checks', 'keep', 'pipeline', 'fx', 'data', 'changes'];

/** Options whose values stand in the lake. */
const LAKE_VALUES: Record<string, string> = {
  shop: 'SELECT DISTINCT name FROM sites WHERE is_current ORDER BY 1',
  currency: 'SELECT DISTINCT currency FROM items WHERE currency IS NOT NULL ORDER BY 1',
  category: 'SELECT DISTINCT category_slug FROM items WHERE category_slug IS NOT NULL ORDER BY 1',
  brand: 'SELECT brand FROM items WHERE brand IS NOT NULL GROUP BY ALL ORDER BY count(*) DESC LIMIT 500',
};

/** Values that no declaration lists. Nothing where they can't be had: completion is no place for errors. */
export async function lookUp({ name, type }: OptionSpec, words: readonly string[]): Promise<Completion[]> {
  if (PATHS.includes(name)) return [FILES];
  if (name === 'select') return listChecks();
  const sql = LAKE_VALUES[name];
  if (sql === undefined || type !== 'string') return [];
  return readLakeValues(sql, words).catch(() => []);
}

async function listChecks(): Promise<Completion[]> {
  const { loadChecks } = await import('../../check/load.js');
  return (await loadChecks()).map(({ name, description }) => ({ value: name, meaning: description }));
}

async function readLakeValues(sql: string, words: readonly string[]): Promise<Completion[]> {
  const [{ readLake }, { findTarget }] = await Promise.all([import('../read-lake.js'), import('../reading-target.js')]);
  const at = words.indexOf('--lake');
  const { lake: path } = await findTarget({ lake: at < 0 ? undefined : words[at + 1] }, process.env);
  const { signal } = new AbortController();
  return readLake({ path, signal }, async ({ db }) =>
    (await db.rows(sql)).map((row) => ({ value: String(Object.values(row)[0]) })),
  );
}
