import type { DuckDBValue } from '@duckdb/node-api';
import type { ReadCell } from './cells.js';
import type { PageRequest } from './page.js';
import type { Answer, Question } from './question.js';
import { type ReadValue, readAll } from './values.js';

/** Finds the row of an analysis with the product and currency of a row of another table. */
export type FindByMarket = (read: ReadCell) => ReadValue | undefined;

/** Runs an analysis for the products and currencies in `answers`, and returns a function that looks up its rows. */
export async function askByMarket(
  answers: readonly Answer[],
  { analysis, set }: Pick<Question, 'analysis' | 'set'>,
  ask: PageRequest['ask'],
): Promise<FindByMarket> {
  const wanted = answers.flatMap((answer) => readAll(answer)).filter((read) => read('product_id') !== null);
  const markets = new Map(
    wanted.map((read) => [toKey(read), { product: String(read('product_id')), currency: String(read('currency')) }]),
  );
  if (markets.size === 0) return () => undefined;
  const named = { ...set, markets: JSON.stringify([...markets.values()]) };
  const rows = readAll(await ask({ analysis, set: named, limit: markets.size }));
  const found = new Map(rows.map((read) => [toKey(read), read]));
  return (read) => found.get(toKey(read));
}

const toKey = (read: (name: string) => DuckDBValue | undefined) =>
  JSON.stringify([read('product_id'), read('currency')]);
