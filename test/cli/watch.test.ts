import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { pipelineSchema } from '../../src/config/pipeline-schema.js';
import { realIo } from '../../src/io/io.js';
import { syncPipeline } from '../../src/run/sync.js';
import { startSandbox } from '../../src/sandbox/start.js';
import { runHere } from './pricelake.js';

const SHOPS = ['Alpha', 'Beta', 'Gamma', 'Delta'];
const CREDIT = 'Open Prices, CC BY 4.0';
const KETTLE = '4006381333931';
const LAMP = '4012345678901';
const TOASTER = '4012345678918';
const MUG = '4012345678925';
type Past = [day: number, price: number | null][];
/** Days of November and prices from then on, of each shop; null: not listed. */
const PAST: Record<string, Past[]> = {
  // Beta went below 20 first and came back; Gamma followed before it did, then Alpha, who still are.
  [KETTLE]: ['1:25 9:19.5', '1:26 5:18 8:24', '1:27 7:19', '1:30'].map(parsePast),
  [LAMP]: ['1:50', '1:50 4:45', '2:60 6:null'].map(parsePast),
  // Gamma lost two digits on the tenth.
  [TOASTER]: ['1:10', '1:11', '1:10 10:0.1', '1:9.5'].map(parsePast),
  [MUG]: ['1:0.01'].map(parsePast),
};

function parsePast(text: string): Past {
  return text.split(' ').map((one) => one.split(':').map((word) => JSON.parse(word)) as [number, number | null]);
}

const at = (day: number) => `2026-11-${String(day).padStart(2, '0')}T10:00:00Z`;

function recordWorld() {
  const items: object[] = [];
  const changes: { observedAt: string }[] = [];
  for (const [gtin, shops] of Object.entries(PAST)) {
    for (const [k, past] of shops.entries()) {
      const site = { id: k + 1, name: SHOPS[k], host: `shop${k + 1}.example`, attribution: k === 1 ? CREDIT : null };
      const item = { id: 5000 + items.length, title: `Item ${gtin}`, url: null, currency: 'EUR', site };
      let [price, priceChangedAt, previousPrice]: [number | null, string | null, number | null] = [null, null, null];
      for (const [n, [day, next]] of past.entries()) {
        const kind = n === 0 ? 'NEW' : next === null ? 'REMOVED' : 'CHANGED';
        const moved = kind === 'CHANGED' ? price : null;
        if (moved !== null) [priceChangedAt, previousPrice] = [at(day), moved];
        const told = moved === null ? {} : { price: [moved, next] };
        price = next ?? price;
        changes.push({ kind, observedAt: at(day), price, previousPrice: moved, changes: told, item } as never);
      }
      const [lastDay, last] = past.at(-1) as [number, number | null];
      items.push({
        ...item,
        ...{ brand: null, mpn: null, gtin, price, previousPrice, priceChangedAt, image: null, attributes: {} },
        ...{ category: null, datasets: ['Prices'], source: { modelId: k + 1, name: SHOPS[k] } },
        firstSeenAt: at(past[0]?.[0] ?? 1),
        lastSeenAt: last === null ? at(lastDay) : at(12),
        lastChangedAt: at(lastDay),
        removedAt: last === null ? at(lastDay) : null,
      });
    }
  }
  changes.sort((a, b) => a.observedAt.localeCompare(b.observedAt));
  return { items, changes: changes.map((change, k) => ({ id: k + 1, ...change })) };
}

const folder = await mkdtemp(join(tmpdir(), 'pricelake-watch-'));
const lake = join(folder, 'lake');
const { items, changes } = recordWorld();
const write = async (name: string, rows: object[]) => {
  await writeFile(join(folder, name), rows.map((row) => JSON.stringify(row)).join('\n'));
  return join(folder, name);
};
const [dataFile, changesFile] = [await write('items.ndjson', items), await write('changes.ndjson', changes)];
const sandbox = await startSandbox({ dataFile, changesFile, ratePerSecond: null });
const pipeline = pipelineSchema.parse({
  name: 'prices',
  source: { baseUrl: sandbox.baseUrl, apiKey: 'key' },
  lake: { path: lake },
  proof: { sample: 0, products: false },
});
const source = { ...pipeline.source, apiKey: sandbox.keys.live };
await syncPipeline(
  { ...pipeline, file: 'prices.yaml', source },
  { ...realIo, now: () => new Date('2026-11-12T12:00:00Z') },
);
await sandbox.close();
afterAll(() => rm(folder, { recursive: true }));

async function list(name: string, lines: string[]): Promise<string> {
  await writeFile(join(folder, name), `${lines.join('\n')}\n`);
  return join(folder, name);
}
const watch = (file: string, ...args: string[]) => runHere(['watch', '--lake', lake, '--list', file, ...args]);
const parseRows = (text: string) => (JSON.parse(text) as { rows: Record<string, unknown>[] }).rows;

describe('watch', () => {
  test('says who undercuts and who went below the allowed price, in order, and exits with 7', async () => {
    const file = await list('mine.csv', [
      'product,price,currency,lowest,highest',
      `00${KETTLE},24.00,eur,20,29`,
      `"${LAMP.slice(0, 6)} ${LAMP.slice(6)}",45,,,`,
    ]);
    const { code, stdout, stderr } = await watch(file, '--json');
    expect(code).toBe(7);
    expect(stderr).toContain('a product is offered below your lowest allowed price');
    const followers = ['Gamma', 'Alpha'];
    const since = expect.stringContaining('2026-11-05');
    const kettle = {
      ...{ line: 2, product_id: KETTLE, currency: 'EUR', is_matched: true, shops: 4, position: 3, changes: null },
      ...{ cheapest: 19, cheapest_shop: 'Gamma', median: 21.75, gap: 5, above_shops: 1 },
      ...{ undercut_shops: 2, undercut_by: followers, undercut_since: since },
      ...{ below_shops: 2, below_now: followers, below_first: 'Beta', below_followed: followers, below_since: since },
      below_since_known: true,
    };
    const lamp = {
      ...{ line: 3, product_id: LAMP, currency: 'EUR', shops: 2, position: 1, cheapest: 45, cheapest_shop: 'Beta' },
      ...{ gap: 0, undercut_shops: 0, below_shops: 0, below_first: null, undercut_since: null },
    };
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      error: { code: 'below_allowed', facts: { products: 1, attribution: [CREDIT], rows: [kettle, lamp] } },
    });
  });

  test('tells what has changed since the last run, and exits with 0 where nothing is below', async () => {
    const file = await list('later.csv', ['product,price,lowest', `${KETTLE},24,20`]);
    expect((await watch(file, '--json')).code).toBe(7);
    await list('later.csv', ['product,price,lowest', `${KETTLE},18.5,18`, `${LAMP},70,`]);
    const { code, stdout } = await watch(file, '--json');
    expect(code).toBe(0);
    expect(parseRows(stdout).map(({ changes }) => changes)).toEqual([
      [
        'own price 24.0000 → 18.5000',
        'position 3 → 1',
        'no longer below the allowed price: Gamma',
        'no longer below the allowed price: Alpha',
      ],
      ['new in the list'],
    ]);
  });

  test('compares no price that looks wrong, says which and why, and raises no alarm for it', async () => {
    const file = await list('suspects.csv', ['product,price,lowest', `${TOASTER},12,9`]);
    const { code, stdout } = await watch(file, '--json');
    expect(code).toBe(0);
    expect(parseRows(stdout)).toMatchObject([
      {
        shops: 3,
        position: 4,
        cheapest: 9.5,
        cheapest_shop: 'Delta',
        undercut_by: ['Alpha', 'Beta', 'Delta'],
        below_shops: 0,
        below_now: [],
        alarms: 0,
        left_out: ['0.1000 Gamma: other shops ask 100.0 times as much'],
        attribution: [CREDIT],
      },
    ]);
    const table = (await watch(file)).stdout;
    expect(table).toContain('0.1000 Gamma: other shops ask');
    expect(table).not.toContain('[');
    const suspects = await watch(file, '--json', '--with-suspects');
    expect(suspects.code).toBe(0);
    expect(parseRows(suspects.stdout)).toMatchObject([
      { shops: 4, cheapest: 0.1, below_shops: 1, below_now: ['Gamma'], alarms: 0, left_out: [], changes: null },
    ]);
    // The look with suspects left no trace.
    expect(parseRows((await watch(file, '--json')).stdout)[0]).toMatchObject({ changes: [] });
  });

  test('says that no price counts', async () => {
    const file = await list('none.csv', ['product,price,lowest', `${MUG},3,2`]);
    const { code, stdout } = await watch(file, '--json');
    expect([code, parseRows(stdout)[0]]).toMatchObject([
      0,
      {
        is_matched: false,
        reason: 'no price counts: see left_out',
        left_out: ['0.0100 Alpha: a price that fills a field'],
        undercut_by: [],
      },
    ]);
  });

  test('leaves the wrong price out of indices as well', async () => {
    const { stdout } = await runHere([
      ...['query', '--lake', lake, '--analysis', 'price_index', '--set', 'by=all', '--set', 'period=day', '--json'],
      ...['--set', 'since=2026-11-08', '--set', 'until=2026-11-11'],
    ]);
    const [last] = parseRows(stdout).slice(-1);
    expect(Number(last?.jevons)).toBeGreaterThan(90);
  });

  test('says why a line is not matched', async () => {
    const file = await list('odd.csv', [
      'product;price;currency',
      '4006381333932;1,50;',
      '9780306406157;2;',
      '4,00638E+12;3;',
      'acme-77;4;',
      `${KETTLE};5;USD`,
      '4012345678902;6;',
    ]);
    const { code, stdout } = await watch(file, '--json');
    expect(code).toBe(0);
    const rows = parseRows(stdout);
    expect(rows.map(({ reason }) => reason)).toEqual([
      expect.stringContaining('check digit'),
      'no listing of this product',
      expect.stringContaining('cut short by a spreadsheet'),
      'no listing of this product',
      'sold in EUR alone',
      expect.stringContaining('check digit'),
    ]);
    expect(rows[0]).toMatchObject({ price: 1.5, is_matched: false, shops: 0, position: null });
  });

  test.each([
    ['product,price\n1,2', 'mine:2', 0],
    ['product,price\n4006381333931,cheap', ':2: price "cheap"', 2],
    ['product,price\n4006381333931,1.23456', ':2: price "1.23456"', 2],
    ['product,price,lowest,highest\n4006381333931,2,5,4', 'lowest 5 is above highest 4', 2],
    ['product,price\n4006381333931,2\n04006381333931,3', ':3: the product is already in line 2', 2],
    ['product,price,currency\n4006381333931,2,euros', 'currency "EUROS"', 2],
    ['gtin,price\n4006381333931,2', 'no column product', 2],
    ['product,price\n', 'no product in it', 2],
    ['', 'empty', 2],
  ])('refuses a list with the line and what is wrong: %j', async (text, message, exit) => {
    const file = await list('bad.csv', [text]);
    if (text === '') await writeFile(file, '');
    const { code, stderr } = await watch(file);
    expect(code).toBe(exit);
    if (exit === 2) expect(stderr).toContain(message);
  });

  test('writes every format, with the credits', async () => {
    const file = await list('formats.csv', ['product,price', `${KETTLE},24`]);
    const table = await watch(file);
    expect(table.stdout).toMatch(/Gamma/);
    expect(table.stdout).toContain(CREDIT);
    for (const format of ['csv', 'json', 'ndjson', 'arrow', 'parquet']) {
      const output = join(folder, `found.${format}`);
      expect((await watch(file, '--format', format, '--output', output)).code, format).toBe(0);
      expect((await readFile(output)).length, format).toBeGreaterThan(100);
    }
    expect(await readFile(join(folder, 'found.csv'), 'utf8')).toContain(`${KETTLE},`);
    expect((await watch(file, '--own-site', 'x')).stderr).toContain('--own-site x is not a site_id');
    const own = await watch(file, '--own-site', '3', '--json');
    expect(parseRows(own.stdout)[0]).toMatchObject({ shops: 3, cheapest_shop: 'Alpha' });
  });
});
