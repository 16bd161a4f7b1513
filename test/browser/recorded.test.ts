/**
 * The questions of a category manager on recorded catalogs: PRICELAKE_RECORDED names them as `ITEMS.ndjson.gz` or
 * `ITEMS.ndjson.gz+CHANGES.ndjson.gz`, with commas between. Plain SQL over these files says what pages should answer.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readPipeline } from '../../src/config/pipeline-file.js';
import { packagePath } from '../../src/io/package-path.js';
import { startSandbox } from '../../src/sandbox/start.js';
import { syncWithWings } from '../../src/wings/index.js';
import { type Served, serve } from '../explore/explored.js';
import { testIo } from '../run/world.js';
import { launchChromium } from './chromium.js';
import { cell, go, rowOf, search } from './clicks.js';

const MINUTES = 60_000;
const CATALOGS = (process.env.PRICELAKE_RECORDED ?? '')
  .split(',')
  .filter((files) => files !== '')
  .map((files) => ({ name: path.basename(files), files: files.split('+') }));

if (CATALOGS.length === 0) it.skip('recorded catalogs: set PRICELAKE_RECORDED to their files', () => {});

/**
 * Products that a reader could put on a list: each shop has one listing, and no price is so far from the others that an
 * analysis could doubt it.
 */
const PLAIN_PRODUCTS = `
CREATE TABLE plain AS
SELECT product, coalesce(any_value(gtin), any_value(mpn)) AS words, count(*) AS shops, min(price) AS low, max(price) AS high,
  round(1.1 * min(price), 2) AS own, any_value(currency) AS currency, list(id) AS ids
FROM (SELECT *, coalesce(ltrim(gtin, '0'), concat_ws('-', plain(brand), plain(mpn))) AS product FROM listed)
WHERE removedAt IS NULL AND price IS NOT NULL AND length(coalesce(gtin, mpn)) >= 10
GROUP BY product
HAVING count(*) >= 4 AND count(DISTINCT site.id) = count(*) AND count(DISTINCT currency) = 1
  AND max(price) < 1.4 * min(price) AND max(price) > min(price) AND bool_and(coalesce(attributes.inStock, true))
ORDER BY shops DESC, product LIMIT 3`;

/** The price of each listing from each of its changes to the next; null while it was not listed. */
const STEPS = `
CREATE TABLE steps AS
SELECT item.id AS id, observedAt AS from_at, CASE WHEN kind <> 'REMOVED' THEN price END AS price,
  lead(observedAt, 1, TIMESTAMPTZ '9999-01-01') OVER (PARTITION BY item.id ORDER BY feed.id) AS until_at
FROM feed WHERE kind = 'REMOVED' OR price IS NOT NULL`;

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
});
afterAll(() => browser.close());

describe.each(CATALOGS)('on $name', ({ files: [dataFile = '', changesFile] }) => {
  let served: Served;
  let folder: string;
  let sql: DuckDBConnection;
  const rows = async (query: string) => (await sql.runAndReadAll(query)).getRowObjectsJson();
  const first = async (query: string) => (await rows(query))[0] ?? expect.fail(`no row: ${query}`);

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'pricelake-recorded-'));
    sql = await (await DuckDBInstance.create()).connect();
    await sql.run(`SET TimeZone = 'UTC'; CREATE TABLE listed AS SELECT * REPLACE (price::DECIMAL(18,2) AS price)
      FROM read_json('${dataFile}', columns = { id: 'BIGINT', title: 'VARCHAR', brand: 'VARCHAR', mpn: 'VARCHAR', gtin: 'VARCHAR', price: 'DOUBLE',
        currency: 'VARCHAR', site: 'STRUCT(id BIGINT, name VARCHAR)', category: 'STRUCT(name VARCHAR, path VARCHAR, slug VARCHAR)',
        attributes: 'STRUCT(inStock BOOLEAN)', removedAt: 'TIMESTAMPTZ', lastSeenAt: 'TIMESTAMPTZ' });
      CREATE MACRO plain(text) AS lower(regexp_replace(text, '[^A-Za-z0-9]', '', 'g'));
      ${PLAIN_PRODUCTS}`);
    if (changesFile !== undefined) {
      await sql.run(`CREATE TABLE feed AS SELECT * REPLACE (price::DECIMAL(18,2) AS price, previousPrice::DECIMAL(18,2) AS previousPrice)
        FROM read_json('${changesFile}', columns = { id: 'BIGINT', kind: 'VARCHAR', observedAt: 'TIMESTAMPTZ', price: 'DOUBLE',
          previousPrice: 'DOUBLE', item: 'STRUCT(id BIGINT)' }); ${STEPS}`);
    }
    const sandbox = await startSandbox({
      ratePerSecond: null,
      dataFile,
      ...(changesFile === undefined ? {} : { changesFile }),
    });
    const pipeline = await readPipeline(packagePath('pipelines/demo.yaml'), {
      PRICELAKE_BASE_URL: sandbox.baseUrl,
      PRICELAKE_API_KEY: sandbox.keys.live,
    });
    pipeline.lake.path = path.join(folder, 'lake');
    Object.assign(pipeline.analysis.attributes, { availability: ['inStock'] });
    await syncWithWings(pipeline, testIo);
    await sandbox.close();
    const list = path.join(folder, 'mine.csv');
    // The reader asks a tenth more than the cheapest shop.
    const lines = (await rows('FROM plain')).map(({ product, own, currency }) => `${product},${own},${currency}`);
    expect(lines).toHaveLength(3);
    await writeFile(list, ['product,price,currency', ...lines].join('\n'));
    served = await serve({ lake: pipeline.lake.path, memory: '450MB', list });
    for (const one of ['/list', '/', '/shops']) await served.page(one);
  }, 10 * MINUTES);
  afterAll(async () => {
    await served?.close();
    await rm(folder, { recursive: true });
  });

  /** Opens Today, from where each question begins. */
  async function begin(): Promise<Page> {
    const page = await (await browser.newContext()).newPage();
    await page.goto(served.url);
    return page;
  }

  /** Opens the page of the first plain product by a search. */
  async function openProduct() {
    const product = await first('FROM plain');
    const page = await begin();
    await search(page, String(product.words));
    await page.locator(`#found tbody th a[href*="${product.product}"]`).first().click();
    return { page, product };
  }

  /** The value of a figure without its note. */
  const figure = async (page: Page, name: string) => {
    const shown = page.locator('.figures div').filter({ has: page.getByText(name, { exact: true }) });
    const note = (await shown.locator('dd > small').allTextContents()).at(-1) ?? '';
    return ((await shown.locator('dd').textContent()) ?? '').replace(note, '').replaceAll(/\s+/gu, ' ').trim();
  };

  it.each(['/', '/products', '/list', '/shops', 'a shop'])('%s fits a few screens of a phone', async (place) => {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 }, isMobile: true });
    const page = await context.newPage();
    await page.goto(served.url);
    if (place === 'a shop') {
      await go(page, 'Shops');
      await page.locator('main tbody th a').first().click();
      await page.getByRole('heading', { name: 'Rivals' }).waitFor();
    } else await page.goto(served.base + place);
    const [height, width] = (await page.evaluate(
      '[document.documentElement.scrollHeight, document.documentElement.scrollWidth]',
    )) as [number, number];
    expect(width).toBe(390);
    expect(height).toBeLessThan(6000);
    await page.evaluate(axe.source);
    expect(await page.evaluate('axe.run().then(({ violations }) => violations.map(({ id }) => id))')).toEqual([]);
  });

  it('which of my products are above the cheapest that is in stock?', async () => {
    const page = await begin();
    await go(page, 'My list');
    for (const { product, own, low } of await rows('FROM plain')) {
      const line = rowOf(page, 'watched_lines', String(product));
      expect([
        await cell(line, 'Your price'),
        (await cell(line, 'Cheapest')).split(' ')[0],
        await cell(line, 'Gap'),
      ]).toEqual([...[money(own), money(low), percent(100 * (Number(own) / Number(low) - 1))]]);
    }
  });

  it('what is the spread of a product?', async () => {
    const { page, product } = await openProduct();
    expect([await figure(page, 'Spread'), await figure(page, 'Shops')]).toEqual([
      ...[percent(100 * (Number(product.high) / Number(product.low) - 1)), product.shops],
    ]);
  });

  it('which rivals of my list are out of stock?', async () => {
    const page = await begin();
    await go(page, 'My list');
    // Shops of the chosen products have all of them.
    await page.getByText('0 rivals out of stock').waitFor();
    const { out } = await first(
      'SELECT count(*) AS out FROM listed WHERE removedAt IS NULL AND NOT attributes.inStock',
    );
    if (out === '0') return;
    const without = await first(`
      SELECT product, any_value(gtin) AS words, count(*) FILTER (NOT attributes.inStock) AS out
      FROM (SELECT *, ltrim(gtin, '0') AS product FROM listed) WHERE removedAt IS NULL AND length(gtin) = 13
      GROUP BY product
      HAVING out > 0 AND count(*) BETWEEN 3 AND 20 AND count(DISTINCT site.id) = count(*) AND count(DISTINCT currency) = 1
      ORDER BY product LIMIT 1`);
    await search(page, String(without.words));
    await page.locator(`#found tbody th a[href*="${without.product}"]`).first().click();
    await page.getByRole('heading', { name: 'Offers' }).waitFor();
    const offers = page.locator('table[data-analysis=offers] tbody tr');
    expect(String(await offers.filter({ hasText: 'out of stock' }).count())).toBe(without.out);
  });

  it('what is the spread of a product with excluded offers, and why is each one excluded?', async () => {
    // An offer without stock, and a price so far below the median of the shops that it may be another product.
    const left = await first(`
      SELECT product, any_value(words) AS words, list(shop) FILTER (is_out) AS out, list(shop) FILTER (is_low AND NOT is_out) AS low,
        min(price) FILTER (NOT is_low AND NOT is_out) AS lowest, max(price) FILTER (NOT is_low AND NOT is_out) AS highest
      FROM (
        SELECT *, coalesce(ltrim(gtin, '0'), concat_ws('-', plain(brand), plain(mpn))) AS product, coalesce(gtin, mpn) AS words,
          site.name AS shop, coalesce(NOT attributes.inStock, false) AS is_out,
          price < 0.5 * median(price) OVER (PARTITION BY coalesce(ltrim(gtin, '0'), concat_ws('-', plain(brand), plain(mpn)))) AS is_low
        FROM listed WHERE removedAt IS NULL AND price IS NOT NULL AND length(coalesce(gtin, mpn)) >= 10
      )
      GROUP BY product
      HAVING count(*) BETWEEN 4 AND 25 AND count(DISTINCT shop) = count(*) AND count(DISTINCT currency) = 1
        AND count_if(is_out) + count_if(is_low) > 0 AND count_if(is_low) <= 2
        AND highest < 2.2 * lowest AND count_if(NOT is_low AND NOT is_out) >= 3
      ORDER BY count_if(is_out) + count_if(is_low), product LIMIT 1`);
    const page = await begin();
    await search(page, String(left.words));
    await page.locator(`#found tbody th a[href*="${left.product}"]`).first().click();
    await page.getByRole('heading', { name: 'Offers' }).waitFor();
    expect(await figure(page, 'Spread')).toBe(percent(100 * (Number(left.highest) / Number(left.lowest) - 1)));
    for (const [shops, reason] of [
      [left.out, /out of stock/u],
      [left.low, /median of \d+ shops is/u],
    ] as const) {
      for (const shop of (shops as string[] | null) ?? []) {
        const offer = page.locator('table[data-analysis=offers] tbody tr').filter({ hasText: shop });
        expect([shop, await cell(offer, 'Left out because')]).toEqual([shop, expect.stringMatching(reason)]);
      }
    }
  });

  describe.skipIf(changesFile === undefined)('with its past', () => {
    it('what has changed since yesterday in a category?', async () => {
      const {
        slug,
        path: label,
        falls,
        rises,
      } = await first(`
        SELECT category.slug AS slug, any_value(category.path) AS path, count(*) FILTER (feed.price < previousPrice) AS falls,
          count(*) FILTER (feed.price > previousPrice) AS rises
        FROM feed JOIN listed ON listed.id = feed.item.id
        WHERE kind = 'CHANGED' AND observedAt > (SELECT max(lastSeenAt) FROM listed) - INTERVAL 1 DAY
        GROUP BY slug ORDER BY falls DESC LIMIT 1`);
      const page = await begin();
      await page.getByLabel('Since').selectOption({ label: 'a day ago' });
      await page.getByLabel('Category').selectOption({ label: String(label) });
      await page.getByRole('button', { name: 'Show' }).click();
      await page.waitForURL(`**category=${slug}**`);
      expect([await figure(page, 'Falls'), await figure(page, 'Rises')]).toEqual([falls, rises]);
    });

    it('who leads price cuts?', async () => {
      const cuts =
        await rows(`SELECT site.name AS shop, count(*) AS cuts FROM feed JOIN listed ON listed.id = feed.item.id
        WHERE kind = 'CHANGED' AND feed.price < previousPrice AND observedAt > (SELECT max(lastSeenAt) FROM listed) - INTERVAL 30 DAY
        GROUP BY shop ORDER BY cuts DESC LIMIT 5`);
      const page = await begin();
      await go(page, 'Shops');
      await go(page, /^Which shops lead price cuts/u);
      for (const { shop, cuts: count } of cuts)
        expect([shop, await cell(rowOf(page, 'cut_leaders', String(shop)), 'Cuts')]).toEqual([shop, count]);
    });

    it('what did a shop ask on a date?', async () => {
      const { page, product } = await openProduct();
      const asked = await rows(`SELECT site.name AS shop, steps.price AS price FROM steps JOIN listed USING (id)
        WHERE list_contains([${String(product.ids)}], id) AND from_at <= '2026-08-05' AND until_at > '2026-08-05' AND steps.price IS NOT NULL`);
      expect(asked.length).toBeGreaterThan(3);
      await page.getByLabel('Compare').fill('2026-08-05');
      await page.getByLabel('to', { exact: true }).fill('2026-08-05');
      await page.locator('.filters button', { hasText: 'Show' }).click();
      for (const { shop, price } of asked) {
        const row = rowOf(page, 'compared_listings', String(shop));
        expect([shop, await cell(row, 'Start of 5 Aug 2026')]).toEqual([shop, money(price)]);
      }
    });

    it('who undercuts me, and since when?', async () => {
      const page = await begin();
      await go(page, 'My list');
      for (const { product, own, ids } of await rows('FROM plain')) {
        const mine = `list_contains([${String(ids)}], id)`;
        const { shops } = await first(`SELECT count(*) AS shops FROM listed WHERE ${mine} AND price < ${own}`);
        // The first moment after the last one at which no shop was cheaper.
        const { since } = await first(`
          WITH moments AS (SELECT DISTINCT from_at AS began FROM steps WHERE ${mine}),
            lows AS (SELECT began, min(steps.price) AS low FROM moments JOIN steps ON began >= from_at AND began < until_at WHERE ${mine} GROUP BY began)
          SELECT strftime(min(began), '%-d %b %Y') AS since FROM lows
          WHERE began > coalesce((SELECT max(began) FROM lows WHERE low IS NULL OR low >= ${own}), TIMESTAMPTZ '0001-01-01')`);
        const line = rowOf(page, 'watched_lines', String(product));
        expect([
          await cell(line, 'Since'),
          (await cell(line, 'Undercut by')).startsWith(shops === '1' ? '' : `${shops} shops`),
        ]).toEqual([since, true]);
      }
    });

    it('was 99, now 49: is the price before a cut the lowest of the 90 days before it?', async () => {
      const cuts = await rows(`
        WITH cuts AS (
          SELECT item.id AS id, observedAt AS cut_at, price, previousPrice FROM feed
          WHERE kind = 'CHANGED' AND price < previousPrice AND observedAt > (SELECT max(lastSeenAt) FROM listed) - INTERVAL 1 DAY
        )
        SELECT concat_ws('-', plain(brand), plain(mpn)) AS product, site.name AS shop, cuts.previousPrice AS before, cuts.price AS price, min(steps.price) AS lowest
        FROM cuts JOIN listed USING (id) JOIN steps ON steps.id = cuts.id AND from_at < cut_at AND until_at > cut_at - INTERVAL 90 DAY
        GROUP BY product, shop, cuts.previousPrice, cuts.price HAVING min(steps.price) < cuts.previousPrice
        ORDER BY min(steps.price) / cuts.previousPrice, product, shop LIMIT 3`);
      expect(cuts).toHaveLength(3);
      for (const { product, shop, before, price, lowest } of cuts) {
        const page = await begin();
        await go(page, 'Analyses');
        await go(page, 'Price cuts and the lowest price before them');
        await page.locator('.filters input[name=product]').fill(String(product));
        await page.locator('summary', { hasText: 'More settings' }).click();
        await page.locator('.filters input[name=days]').fill('90');
        await page.locator('.filters select[name=site_id]').selectOption({ label: String(shop) });
        await page.locator('.filters button', { hasText: 'Show' }).click();
        await page.waitForURL('**days=90**');
        const row = page.locator('table[data-analysis=prior_price] tbody tr').first();
        expect([
          ...[product, await cell(row, 'Price before'), await cell(row, 'Price'), await cell(row, 'Lowest before')],
        ]).toEqual([product, money(before), money(price), money(lowest)]);
      }
    });

    it('how did the price level of a category move?', async () => {
      const { path: label, level } = await first(`
        SELECT category.path AS path, 100 * exp(avg(ln(now.price / earlier.price))) AS level
        FROM listed
        JOIN (SELECT id, price FROM steps WHERE from_at <= '2026-11-18' AND until_at > '2026-11-18') AS earlier USING (id)
        JOIN (SELECT id, price FROM steps WHERE from_at <= '2026-11-19' AND until_at > '2026-11-19') AS now USING (id)
        WHERE now.price IS NOT NULL AND earlier.price IS NOT NULL
        GROUP BY path ORDER BY count(*) DESC LIMIT 1`);
      const page = await begin();
      await go(page, 'Analyses');
      await go(page, 'Price index');
      await page.locator('select[name=category]').selectOption({ label: String(label) });
      await page.locator('select[name=period]').selectOption({ label: 'day' });
      if (!(await page.locator('.filters input[name=since]').isVisible()))
        await page.locator('summary', { hasText: 'More settings' }).click();
      await page.locator('.filters input[name=since]').fill('2026-11-18');
      await page.locator('.filters button', { hasText: 'Show' }).click();
      await page.waitForURL('**since=2026-11-18**');
      const day = page.locator('table[data-analysis=price_index] tbody tr').filter({ hasText: '19 Nov 2026' });
      expect(await cell(day, 'Jevons')).toBe(Number(level).toFixed(1));
    });

    it('how did prices differ between two dates?', async () => {
      const at = (day: string) =>
        `(SELECT id, price FROM steps WHERE from_at < '${day}' AND until_at >= '${day}' AND price IS NOT NULL)`;
      const { falls, rises } =
        await first(`SELECT count(*) FILTER (b.price < a.price) AS falls, count(*) FILTER (b.price > a.price) AS rises
        FROM ${at('2026-08-05')} AS a JOIN ${at('2026-10-06')} AS b USING (id)`);
      const page = await begin();
      await page.getByLabel('or from').fill('2026-08-05');
      await page.getByLabel('to', { exact: true }).fill('2026-10-05');
      await page.getByRole('button', { name: 'Show' }).click();
      await page.waitForURL('**until=**');
      expect([await figure(page, 'Falls'), await figure(page, 'Rises')]).toEqual([falls, rises]);
    });
  });
});

const money = (value: unknown) => Number(value).toFixed(2);
const percent = (value: number) => `${value.toFixed(1)} %`;
