import { readFile } from 'node:fs/promises';
import { openIndexWorld, type Sold } from '../analyze/index-world.js';

/**
 * Indices of pricelake for a panel, as JSON: `write-indices.ts <panel.json> <window>`. The panel is a list of
 * [item, month, price in units of 0.0001, quantity]; compare_indices.py writes it.
 */
const [file, window] = process.argv.slice(2);
if (file === undefined || window === undefined) throw new Error('usage: write-indices.ts <panel.json> <window>');

const world = await openIndexWorld(JSON.parse(await readFile(file, 'utf8')) as Sold[]);
const prices = (more: Record<string, string>) =>
  world.ask('price_index', { price: 'last', by: 'all', window_periods: window, ...more });
const weighted = (more: Record<string, string>) =>
  world.ask('weighted_index', { price: 'last', by: 'item', window_periods: window, ...more });

/** Columns of rows under names of their own, as indices of 1. */
async function take(asked: ReturnType<typeof prices>, names: Record<string, string>): Promise<[string, number[]][]> {
  const rows = await asked;
  return Object.entries(names).map(([name, column]) => [name, rows.map((row) => Number(row[column]) / 100)]);
}

const methods = 'jevons, geks_jevons, tpd, spliced_tpd';
const found = [
  await take(prices({}), { jevons: 'jevons', jevons_direct: 'jevons_direct', tpd: 'tpd' }),
  await take(prices({ window_periods: '999' }), { geks_jevons_whole: 'geks_jevons' }),
  await take(weighted({ window_periods: '999' }), {
    ...{ laspeyres: 'laspeyres', tornqvist: 'tornqvist', geks_tornqvist_whole: 'geks_tornqvist' },
  }),
];
for (const splice of ['movement', 'window', 'half', 'mean', 'fbew']) {
  found.push(
    await take(prices({ splice, methods }), { [`geks_${splice}`]: 'geks_jevons', [`tpd_${splice}`]: 'spliced_tpd' }),
    await take(weighted({ splice }), { [`tornqvist_${splice}`]: 'geks_tornqvist' }),
  );
}
await world.db.close();
console.log(JSON.stringify(Object.fromEntries(found.flat())));
