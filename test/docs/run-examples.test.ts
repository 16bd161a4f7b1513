import { cpSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { runHere } from '../cli/pricelake.js';
import { openWorld, readLake, type World } from '../run/world.js';
import { type Example, listExamples } from './list-examples.js';

/** Commands that can't run here; commands.test.ts parses all of them. */
const NOT_HERE: [RegExp, string][] = [
  [/ (explore|mcp|webhook|sandbox)\b(?! advance)/u, 'a server runs until it is stopped'],
  [/ demo\b/u, 'test/cli/demo.test.ts runs it, and it takes long'],
  [/ deliver load postgres --execute/u, 'test/postgres runs it: it needs a server'],
  [/ restore\b| --remote /u, 'test/remote runs them: they need object storage'],
  [/ --all\b| --dataset /u, 'test/cli/shards.test.ts runs them: they need shards'],
  [/ --publish-held/u, 'test/run/held.test.ts runs it: it needs a held batch'],
  [/ --openlineage https:/u, 'it sends to another machine'],
  [/ (--fx|--product|--analysis|query|query --json)$/u, 'the page leaves out what follows'],
];

let world: World;
let cwd: string;
/** The placeholders in examples, as whole words, and their values here. */
let here: Record<string, string>;

const run = (args: string[], folder = cwd) => {
  const { baseUrl, keys } = world.sandbox;
  vi.spyOn(console, 'log').mockImplementation(() => {}); // yargs prints help itself
  // A message that can't be delivered doesn't fail a command.
  const receivers = { SLACK_URL: `${baseUrl}/slack`, ALERT_URL: `${baseUrl}/alert`, ALERT_SECRET: 'whsec_c2VjcmV0' };
  return runHere(args, {
    cwd: folder,
    env: { PRICELAKE_BASE_URL: baseUrl, PRICELAKE_API_KEY: keys.live, ...receivers },
  });
};

beforeAll(async () => {
  world = await openWorld({ items: 800, sites: 6, pastDays: 6 });
  cwd = path.join(world.folder, 'examples');
  await mkdir(path.join(cwd, 'checks'), { recursive: true });
  expect(await run(['init'])).toMatchObject({ code: 0 });
  // `changes` shows tables that each run rewrites only if replaced files are kept.
  const file = path.join(cwd, 'prices.yaml');
  const text = (await readFile(file, 'utf8')).replace('  retention: 0\n', '  retention: 7d\n');
  await writeFile(file, text);
  expect(await run(['sync'])).toMatchObject({ code: 0 });
  await world.sandbox.advance({ hours: 2, changes: 30 });
  expect(await run(['sync'])).toMatchObject({ code: 0 });
  cpSync(path.join(cwd, 'lake'), path.join(cwd, 'lake-2'), { recursive: true });
  const [[product = '', item = '', category = '', site = '', change = ''] = []] = await readLake(
    path.join(cwd, 'lake'),
    (
      glob,
    ) => `SELECT product_id, item_id, category_slug, site_id, (SELECT max(change_id) FROM ${glob('history')}) FROM ${glob('items')} AS i JOIN ${glob('price_spread')} AS s
      USING (product_id) WHERE category_slug IS NOT NULL AND s.currency = 'EUR' ORDER BY s.shops DESC, product_id, item_id LIMIT 1`,
  );
  expect(product).not.toBe('');
  here = {
    ...Object.fromEntries(['/data/lake', '/lake', 'DIR'].map((word) => [word, './lake'])),
    ...Object.fromEntries(
      ['/etc/pricelake/prices.yaml', '/etc/prices.yaml', 'other.yaml', 'pipeline'].map((word) => [word, 'prices.yaml']),
    ),
    ...Object.fromEntries(['lake/electronics', './lake/electronics'].map((word) => [word, './lake'])),
    ...Object.fromEntries(['lake/kitchen', './lake/europe'].map((word) => [word, './lake-2'])),
    '/etc/pricelake/mine.csv': 'mine.csv',
    '/srv/www/prices.html': 'prices.html',
    '/var/lib/node_exporter/textfile/prices.prom': 'prices.prom',
    FILE: 'prices.prom',
    ID: item,
    '9500000000008416': change,
    '9500000000005608': change,
    NAME: 'price_leaders',
    '…': 'FROM sites',
    '41': '1',
    v14: 'v0',
    '42': '2',
    '24': site,
    '10': site,
    kitchen: category,
    'home-garden-kitchen-cookware': category,
    'category=hot-drinks-ground-coffee': `category=${category}`,
    'item_id=9007199254742083': `item_id=${item}`,
    'own_site=2': `own_site=${site}`,
    '4711,4712': item,
    '9107000000000002': item,
    '9107000000000002,9107000000000034': item,
    '4006381333931': product,
    '5994655937055': product,
    '4097486903723': product,
    '8083217810879': product,
    'lamp-1': product,
    "product_id = '5994655937055'": `product_id = '${product}'`,
    'product_id IN (SELECT product_id FROM price_spread WHERE spread_pct > 50)': `item_id = ${item}`,
    'http://127.0.0.1:8600': world.sandbox.baseUrl,
  };
  const sql = 'SELECT item_id, price FROM items';
  const check = `-- name: no_free_kettles\n-- severity: warn\n-- description: None.\n-- next: Look.\n${sql} WHERE price < 0\n`;
  const files = {
    'mine.csv': `product,price,currency,lowest\n${product},10,EUR,8\n`,
    'ecb.csv': 'date,currency,rate\n2020-01-01,PLN,4.2\n2020-01-01,USD,1.1\n',
    'weights.csv': `category,weight\n${category},31.5\n`,
    'coicop.csv': `child,parent\n${category},01.2.1\n`,
    'report.sql': sql,
    'question.sql': sql,
    'cheapest-brands.sql': `${sql} WHERE currency = getvariable('currency')`,
    'checks/no_free_kettles.sql': check,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(cwd, name), text);
  cpSync(path.join(cwd, 'ecb.csv'), path.join(cwd, 'rates.csv'));
});
afterAll(() => world.close());

/** Reading comes first; a run that only lands leaves work to the next. */
const LAST = ['lake compact', 'sandbox', 'plan', 'sync', 'lake rebuild'];

/** Different commands, in an order in which each can run. */
function listCommands(): Example[] {
  const all = [...listExamples().values()]
    .flat()
    .filter(({ text }) => !NOT_HERE.some(([pattern]) => pattern.test(text)));
  const nameOf = ({ args }: Example) => (args[0] === 'lake' ? args.slice(0, 2).join(' ') : (args[0] ?? ''));
  const place = (one: Example) => LAST.indexOf(nameOf(one)) + (one.args.includes('--land-only') ? LAST.length : 0);
  return [...new Map(all.map((one) => [one.args.join('\0'), one])).values()].sort((a, b) => place(a) - place(b));
}

const COMMANDS = listCommands();
const MAY_FIND: Record<string, number> = { check: 3, watch: 7 };

// These are more than a hundred commands, which can exceed the usual timeout on a busy machine.
test('every other command line in the help, on a page and in a file for schedulers runs', {
  timeout: 600_000,
}, async () => {
  const failed: unknown[] = [];
  for (const { args, text } of COMMANDS) {
    const folder = args[0] === 'init' ? await mkdtemp(path.join(cwd, 'empty-')) : cwd;
    const filled = args.map((word) => here[word] ?? word);
    const { code, stderr } = await run(filled, folder);
    // A strict check, and a price list, may find something.
    const isFound = MAY_FIND[args[0] ?? ''] === code;
    if (code !== 0 && !isFound) failed.push({ text, code, stderr });
  }
  expect(failed).toEqual([]);
});

test('every excluded command has a reason and exists', () => {
  const texts = [...listExamples().values()].flat().map(({ text }) => text);
  for (const [pattern, why] of NOT_HERE)
    expect(
      texts.filter((text) => pattern.test(text)),
      why,
    ).not.toEqual([]);
  expect(COMMANDS.length).toBeGreaterThan(80);
});
