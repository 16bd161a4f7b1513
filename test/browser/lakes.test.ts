/**
 * Every page on whole lakes. Beside the demo's: one of each recorded catalog that PRICELAKE_RECORDED names, as
 * `ITEMS.ndjson.gz` or `ITEMS.ndjson.gz+CHANGES.ndjson.gz` with commas between, and the lake at PRICELAKE_EXPLORE_LAKE.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { tableFromIPC } from 'apache-arrow';
import axe from 'axe-core';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readPipeline } from '../../src/config/pipeline-file.js';
import { packagePath } from '../../src/io/package-path.js';
import { type SandboxOptions, startSandbox } from '../../src/sandbox/start.js';
import { syncWithWings } from '../../src/wings/index.js';
import { type Served, serve } from '../explore/explored.js';
import { testIo } from '../run/world.js';
import { launchChromium } from './chromium.js';

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, colorScheme: 'dark' } as const;
const WIDE = { viewport: { width: 1440, height: 900 }, colorScheme: 'light' } as const;
const MINUTES = 60_000;

interface Place {
  lake: string;
  close(): Promise<void>;
}

interface Whole {
  name: string;
  open(): Promise<Place>;
  /** Links of one form that are followed. */
  most: number;
}

/** A lake of two runs, between which a day passes. */
async function copySandbox(options: SandboxOptions): Promise<Place> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pricelake-whole-'));
  const sandbox = await startSandbox({ ratePerSecond: null, ...options });
  const env = { PRICELAKE_BASE_URL: sandbox.baseUrl, PRICELAKE_API_KEY: sandbox.keys.live };
  const pipeline = await readPipeline(packagePath('pipelines/demo.yaml'), env);
  pipeline.lake.path = path.join(folder, 'lake');
  await syncWithWings(pipeline, testIo);
  await sandbox.advance({ hours: 24, changes: 300 });
  await syncWithWings(pipeline, testIo);
  await sandbox.close();
  return { lake: pipeline.lake.path, close: () => rm(folder, { recursive: true }) };
}

const split = (list = '') => list.split(',').filter((part) => part !== '');
const WHOLE: Whole[] = [
  { name: 'the demo', open: () => copySandbox({ items: 4_000, sites: 30, pastDays: 40 }), most: 6 },
  ...split(process.env.PRICELAKE_RECORDED).map((files): Whole => {
    const [dataFile, changesFile] = files.split('+');
    const options = { dataFile, ...(changesFile === undefined ? {} : { changesFile }) } as SandboxOptions;
    return { name: `the catalog ${path.basename(dataFile ?? '')}`, open: () => copySandbox(options), most: 4 };
  }),
  ...split(process.env.PRICELAKE_EXPLORE_LAKE).map((lake): Whole => {
    return { name: `the lake ${lake}`, open: async () => ({ lake, close: async () => {} }), most: 2 };
  }),
];

if (process.env.PRICELAKE_RECORDED === undefined)
  it.skip('recorded catalogs: set PRICELAKE_RECORDED to their files', () => {});
if (process.env.PRICELAKE_EXPLORE_LAKE === undefined)
  it.skip('a lake of yours: set PRICELAKE_EXPLORE_LAKE to its folder', () => {});

const SELECT = 'SELECT currency, count(*) AS n, min(price) AS low FROM items GROUP BY ALL ORDER BY n DESC';
const PAGES: readonly [name: string, path: string | RegExp, on?: string][] = [
  ['Today', '/'],
  ['Today since a week', '/?since=week'],
  ['Products', '/products'],
  ['Products by words', '/products?q=a&min_shops=2&sort=shops&order=desc'],
  ['no product', '/products?q=no-such-product-anywhere'],
  ['a product', /href="(\/products\/[^"]+)"/u, '/products?min_shops=2&sort=shops&order=desc'],
  ['a product of one shop', /href="(\/products\/[^"]+)"/u, '/products?sort=shops'],
  ['Shops', '/shops'],
  ['a shop', /<tbody[\s\S]*?href="(\/shops\/\d+)"/u, '/shops'],
  ['Categories', '/categories'],
  ['My list', '/list'],
  ['Matrix', '/list/matrix'],
  ['Views', '/views'],
  ['Analyses', '/analyses'],
  ...['movers', 'price_index', 'persistence', 'listing_lifetimes', 'find_products', 'report_runs'].map(
    (name): [string, string] => [`analysis ${name}`, `/analyses/${name}`],
  ),
  ['Copy', '/copy'],
  ['SQL', `/sql?sql=${encodeURIComponent(SELECT)}`],
  ['Credits', '/credits'],
];

const decode = (text: string) => text.replaceAll('&amp;', '&').replaceAll('&#39;', "'");

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());

describe.each(WHOLE)('on $name', ({ open, most }) => {
  let place: Place;
  let served: Served;
  /** Addresses that pages lead to. */
  const links = new Set<string>();
  beforeAll(async () => {
    place = await open();
    served = await serve({ lake: place.lake, memory: '450MB' });
    await sendList();
    while ((await served.page('/')).includes('being prepared')) await new Promise((wait) => setTimeout(wait, 500));
  }, 20 * MINUTES);
  afterAll(async () => {
    await served.close();
    await place.close();
  });

  /** A list of five products that shops sell. */
  async function sendList(): Promise<void> {
    const page = await served.page('/products?min_shops=2&rows=5');
    const found = [...page.matchAll(/href="\/products\/([^"?]+)\?currency=([A-Z]+)"/gu)];
    const lines = new Set(
      found.map(([, product, currency]) => `${decodeURIComponent(product ?? '')},9.99,${currency},5,`),
    );
    const form = new FormData();
    form.set('list', new File([['product,price,currency,lowest,highest', ...lines].join('\n')], 'mine.csv'));
    expect((await served.get('/list', { method: 'POST', body: form })).status).toBe(303);
  }

  async function find(address: string | RegExp, on = '/'): Promise<string> {
    if (typeof address === 'string') return address;
    const [, found] = address.exec(await served.page(on)) ?? expect.fail(`${on} has no such link`);
    return decode(found ?? '');
  }

  it.each(PAGES)(
    '%s has no fault that axe finds, no console message, and the width of a phone',
    async (_, address, on) => {
      const page = await find(address, on);
      for (const options of [WIDE, PHONE]) {
        const context = await browser.newContext(options);
        const tab = await context.newPage();
        const trouble: string[] = [];
        tab.on('console', (message) => trouble.push(`console ${message.type()}: ${message.text()}`));
        tab.on('pageerror', (error) => trouble.push(`error: ${error.message}`));
        await tab.goto(served.url);
        const answer = await tab.goto(served.base + page);
        expect([answer?.status(), await tab.locator('main .finding[role=alert]').count()]).toEqual([200, 0]);
        expect(trouble).toEqual([]);
        if (options === PHONE) expect(await tab.evaluate('document.documentElement.scrollWidth')).toBe(390);
        await tab.evaluate(axe.source);
        const violations = await tab.evaluate(
          'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.slice(0, 3).map(({ html }) => html.slice(0, 300)).join(" | ")))',
        );
        expect(violations).toEqual([]);
        const hrefs = await tab.evaluate(
          `[...document.querySelectorAll('a[href^="/"]')].map((link) => link.getAttribute('href'))`,
        );
        for (const href of hrefs as string[]) links.add(href);
        await context.close();
      }
    },
    5 * MINUTES,
  );

  it('a phone shows 25 products with four values each, and all of them on request', async () => {
    const context = await browser.newContext(PHONE);
    const tab = await context.newPage();
    await tab.goto(served.url);
    await tab.goto(`${served.base}/products`);
    const counts = async () => [
      await tab.locator('tbody tr:visible').count(),
      await tab.locator('tbody tr').first().locator('td:visible').count(),
    ];
    const height = () => tab.evaluate('document.documentElement.scrollHeight') as Promise<number>;
    expect(await counts()).toEqual([25, 4]);
    expect(await height()).toBeLessThan(3000);
    await tab.getByLabel('Show all 50 rows with all values').check();
    const [rows, values] = await counts();
    expect([rows, (values as number) > 4]).toEqual([50, true]);
    await tab.setViewportSize({ width: 1440, height: 900 });
    expect(await tab.locator('.all:visible').count()).toBe(0);
    await context.close();
  });

  it('a wide page shows ten rows of a table that is not its main one, and all of them on request', async () => {
    const context = await browser.newContext(WIDE);
    const tab = await context.newPage();
    await tab.goto(served.url);
    await tab.goto(served.base + (await find(/<tbody[\s\S]*?href="(\/shops\/\d+)"/u, '/shops')));
    const rivals = tab.locator('section').filter({ has: tab.getByRole('heading', { name: 'Rivals' }) });
    const rows = rivals.locator('tbody tr:visible');
    expect(await rows.count()).toBe(10);
    await rivals.getByRole('checkbox', { name: /^Show all \d+ rows$/u }).check();
    expect(await rows.count()).toBe(await rivals.locator('tbody tr').count());
    expect(await rows.count()).toBeGreaterThan(10);
    await context.close();
  });

  it(
    'every link leads to a page or to a file in its format',
    async () => {
      const wrong: string[] = [];
      const chosen = chooseLinks([...links], most);
      expect(chosen.length).toBeGreaterThan(80);
      for (const link of chosen) {
        const answer = await served.get(link);
        const fault = explain(link, answer, Buffer.from(await answer.arrayBuffer()));
        if (fault !== undefined) wrong.push(`${link}: ${fault}`);
      }
      expect(wrong).toEqual([]);
    },
    20 * MINUTES,
  );
});

/** The first ones of each form: the same path but for ids, and the same names of variables. */
function chooseLinks(links: readonly string[], most: number): string[] {
  const forms = new Map<string, string[]>();
  for (const link of links) {
    const { pathname, searchParams } = new URL(link, 'http://explore');
    const form = `${pathname.replace(/^\/(products|shops)\/.*/u, '/$1/')}?${[...searchParams.keys()].sort().join()}`;
    forms.set(form, [...(forms.get(form) ?? []), link]);
  }
  return [...forms.values()].flatMap((some) => some.slice(0, most));
}

/** Explains why a response doesn't fit its link, or returns undefined if it does. */
function explain(link: string, { status }: Response, body: Buffer): string | undefined {
  const [first = ''] = body.subarray(0, 20_000).toString().split(/\r?\n/u, 1);
  // In a large lake, some analyses take longer than a page may: it says so, with the form and the command.
  if (/was stopped<\/pre>/u.test(body.toString()) && /On the command line: <code>/u.test(body.toString()))
    return undefined;
  if (status !== 200) return `${status} ${/<pre>([\s\S]*?)<\/pre>/u.exec(body.toString())?.[1] ?? first}`;
  const [, format] = /^\/analyses\/\w+\.(\w+)/u.exec(link) ?? [];
  if (format === undefined) return first.startsWith('<!doctype html>') ? undefined : 'no page';
  if (format === 'csv') return /^[a-z0-9_]+(,[a-z0-9_]+)*$/u.test(first) ? undefined : `no CSV: ${first}`;
  const marks = [body.subarray(0, 4), body.subarray(-4)].join();
  if (format === 'parquet') return marks === 'PAR1,PAR1' ? undefined : 'no Parquet';
  return tableFromIPC(body).schema.fields.length > 0 ? undefined : 'no Arrow';
}
