/** Tests the pages of `pricelake explore` as a browser receives them. */
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isExplored, listAnalyses } from '../../src/analyze/analysis.js';
import { ANALYSIS_GROUPS, UNLISTED_ANALYSES } from '../../src/explore/analysis-groups.js';
import { Database } from '../../src/sql/connection.js';
import { copyMarket, type Explored, explore, type StoryLake } from './explored.js';

let explored: Explored<StoryLake>;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'explore-test-'));
  const list = join(folder, 'mine.csv');
  await writeFile(
    list,
    'product,price,currency,lowest,highest\nacme-r1,99.00,EUR,85.00,120.00\n4006381333931,2.50,EUR,,\n',
  );
  explored = await explore(await copyMarket(), { list });
});
afterAll(async () => {
  await explored.close();
  await explored.story.close();
  await rm(folder, { recursive: true });
});

/** The cells of each row of the first table that has the caption. */
function readTable(page: string, caption: RegExp): string[][] {
  const tables = page.match(/<table[\s\S]*?<\/table>/gu) ?? [];
  const table = tables.find((one) => caption.test(/<caption>([\s\S]*?)<\/caption>/u.exec(one)?.[1] ?? '')) ?? '';
  const [, body = ''] = /<tbody[^>]*>([\s\S]*?)<\/tbody>/u.exec(table) ?? [];
  return [...body.matchAll(/<tr[\s\S]*?<\/tr>/gu)].map(([row]) =>
    [...row.matchAll(/<t[hd][^>]*>([\s\S]*?)<\/t[hd]>/gu)].map(([, cell = '']) =>
      cell.replaceAll(/<[^>]*>/gu, '').trim(),
    ),
  );
}

const FALLS = /largest of/u;
const FOUND = /products? with a price/u;

test.each(['/', '/products', '/shops', '/categories', '/list', '/analyses', '/copy', '/sql', '/credits'])(
  '%s shows the newest run',
  async (path) => {
    const answer = await explored.get(path);
    expect(answer.status).toBe(200);
    const page = await answer.text();
    expect(page).toContain('as of run 3,');
    expect(page).toContain('<a href="/credits">');
  },
);

test('Today shows what moved since the previous run, and each number links to its list', async () => {
  const page = await explored.page('/');
  // The second cell is a drawing.
  expect(readTable(page, FALLS).map((row) => row.slice(0, 7))).toEqual([
    ['Rádio Nôtre 7', '', 'Market', '105.00', '80.00', 'EUR', '-23.8\u00a0%'],
  ]);
  const [, list = ''] = /<dt>Falls<\/dt><dd><a href="([^"]*)">1<\/a>/u.exec(page) ?? [];
  expect(readTable(await explored.page(list.replaceAll('&amp;', '&')), /<span>(?:Rows |1 row)/u)).toHaveLength(1);
  expect(page).toContain('<dt>Rises</dt><dd>0</dd>');
});

test("Today starts with moves of products with several shops, and a shop's mistakes don't mark the copy as wrong", async () => {
  const page = await explored.page('/?since=0');
  // Only one shop sells beads and other products, and three shops sell the radio.
  const shops = readTable(page, /The largest of \d+, products of several shops first/u).map(([title]) => title);
  expect(shops.length).toBe(8);
  expect(shops.slice(0, 3)).toEqual(Array(3).fill('Rádio Nôtre 7'));
  expect(page).toContain('<li class="attention">');
  expect(page).not.toContain('<li class="wrong">');
});

test('Today can show the moves of one shop or since a day, and a shop has no spread', async () => {
  const depot = await explored.page('/?site_id=44');
  expect(depot).toContain('<dt>Falls</dt><dd>0</dd>');
  expect(depot).not.toContain('<h2>Widest spreads</h2>');
  const page = await explored.page('/?date=2026-11-18&site_id=33');
  expect(readTable(page, FALLS)).toHaveLength(1);
  expect(page).toContain('<input type="date" name="date" value="2026-11-18">');
  expect(page).toMatch(/aria-label="\d+ falls? and \d+ rises? of prices in 30 days"/u);
  expect(page).toMatch(/aria-label="-20\.0\u00a0% in 30 days" class="spark"/u);
});

test('Today can start a week ago, at the beginning, or at a run', async () => {
  expect(await explored.page('/?since=week')).toContain('Rádio Nôtre 7');
  expect(await explored.page('/?since=0')).toContain('the beginning</option>');
  expect(await explored.page('/?since=1')).toContain('run 1</option>');
});

test.each([
  ['radio notre', ['Rádio Nôtre 7']],
  ['7 RÁDIO', ['Rádio Nôtre 7']],
  ['r1', ['Rádio Nôtre 7']],
  ['04006381333931', ['Pencil']],
  ['4006381333931', ['Pencil']],
  ['radio kettle', []],
  ['%', ['&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; Kettle']],
])('the words %j find the products %j', async (q, titles) => {
  const found = readTable(await explored.page(`/products?q=${encodeURIComponent(q)}`), FOUND);
  expect(found.map(([title]) => title)).toEqual(titles);
});

test.each([
  ['min_shops=3', 1],
  ['brand=ACME', 1],
  ['site_id=22', 2],
  ['currency=USD', 0],
  ['min_price=2&max_price=10', 1],
])('the filter %s leaves %i products', async (filter, count) => {
  expect(readTable(await explored.page(`/products?${filter}`), FOUND)).toHaveLength(count);
});

test('the table of an analysis lists the columns that it omits because no row has a value', async () => {
  const page = await explored.page('/analyses/price_index');
  expect(page).toMatch(/<p class="soft">Without a value: <bdi>Category, Shop, [^<]*Region, [^<]*<\/bdi>\.<\/p>/u);
  expect(page).not.toContain('data-name="category_slug"');
  expect(page).not.toContain('data-name="shop"');
  expect(page).toContain('data-name="geks_jevons"');
  const grouped = await explored.page('/analyses/price_index?by=shop');
  expect(grouped).toContain('data-name="shop"');
  const asked = await explored.page(`/sql?sql=${encodeURIComponent('SELECT 1 AS one, NULL AS none')}`);
  expect(asked).toContain('data-name="none"');
});

test.each([
  ['dispersion', ['Standard deviation, % of mean', 'Gap, % of the lowest']],
  ['spread_summary', ['Many shops means', 'In at least that many shops']],
  ['lows_highs', ['Time at a lower price, %', 'Rank, lowest first']],
])('the columns of %s have heads in plain language', async (analysis, heads) => {
  const page = await explored.page(`/analyses/${analysis}?hide=-`);
  const shown = [...page.matchAll(/<th scope="col"[^>]*>(?:<a[^>]*>)?([^<]*)/gu)].map(([, head]) => head);
  expect(shown).toEqual(expect.arrayContaining(heads));
});

test('an analysis of one product lets readers choose it by the words of its title', async () => {
  const page = await explored.page('/analyses/offers?product=radio');
  expect(page).toContain('<a href="/analyses/offers?product=acme-r1"><bdi>Rádio Nôtre 7</bdi></a>');
  expect(page).not.toContain('data-analysis="offers"');
  expect(await explored.page('/analyses/offers?product=acme-r1')).toContain('data-analysis="offers"');
});

test("a shop's price index is one bar of its middle half, beside the market", async () => {
  for (const path of ['/shops', '/shops/33']) {
    const page = await explored.page(path);
    expect(page).toMatch(
      /<svg role="img" aria-label="median [\d.]+, half of all between [\d.]+ and [\d.]+" class="range"/u,
    );
    expect(page).toContain('class="reference"');
    expect(page).not.toContain('data-name="index_p25"');
  }
});

test('rows are sorted as the address asks, page by page', async () => {
  const first = readTable(await explored.page('/products?sort=title'), FOUND);
  expect(first).toHaveLength(50);
  expect(first.map(([title]) => title).slice(0, 3)).toEqual([
    '&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; Kettle',
    'Bead 0',
    'Bead 1',
  ]);
  const second = readTable(await explored.page('/products?sort=title&from=50'), FOUND);
  expect(second).toHaveLength(14);
  const down = readTable(await explored.page('/products?sort=title&order=desc'), FOUND);
  expect(down[0]?.[0]).toBe('Rádio Nôtre 7');
});

test('sorting by an unknown column is an error on the page', async () => {
  const answer = await explored.get('/products?sort=%22%3BDROP');
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain('role="alert"');
});

test('a product shows its offers, its prices over time and its changes', async () => {
  const page = await explored.page('/products/acme-r1?days=30');
  expect(readTable(page, /3 offers in EUR/u).map((row) => row.slice(0, 2))).toEqual([
    ['Market', '80.00'],
    ['Kiosk', '100.00'],
    ['Museum', '110.00'],
  ]);
  expect(readTable(page, /Each price of each listing/u).map(([shop, price]) => `${shop} ${price}`)).toEqual([
    'Market 105.00',
    'Market 80.00',
    'Kiosk 100.00',
    'Museum 110.00',
  ]);
  expect(readTable(page, /Changes reported by the service/u).filter((row) => row[2] === 'changed')).toHaveLength(1);
  expect(page).toContain(
    'Now <strong><span class="money">80.00 <small>EUR</small></span></strong> is the lowest known price of the last 90 days.',
  );
  expect(page).toContain('<svg role="img"');
  expect(page).toContain('href="https://shop.example/radio"');
  expect(page).not.toContain('javascript:alert');
});

test('a product whose id has slashes, quotes and percent signs has a working address', async () => {
  const [, link = ''] =
    /href="(\/products\/[^"]*)"[^>]*><bdi>&lt;script/u.exec(await explored.page('/products?q=kettle')) ?? [];
  const answer = await explored.get(link.replaceAll('&amp;', '&'));
  expect(answer.status).toBe(200);
  const page = await answer.text();
  expect(page).toContain('<h1><bdi>&lt;script&gt;');
  expect(page).not.toContain('<script>alert');
});

test.each(['/products/none', '/shops/99', '/shops/x', '/analyses/none', '/analyses/movers.exe', '/other'])(
  '%s is not a page',
  async (path) => {
    const answer = await explored.get(path);
    expect(answer.status).toBe(404);
    expect(await answer.text()).toContain('There is no such page');
  },
);

test('a shop shows its position and its moves', async () => {
  const page = await explored.page('/shops/33');
  expect(page).toContain('<h1><bdi>Market</bdi></h1>');
  expect(readTable(page, /Against the market/u)[0]?.slice(0, 4)).toEqual(['all', '1', '1', '100.0\u00a0%']);
});

test("the page of the copy shows the rest of the month's budget, the cost of each month, and the sample's result", async () => {
  const page = await explored.page('/copy');
  expect(page).toMatch(/<li><bdi>budget: [\d,]+ of [\d,]+ calls left, /u);
  expect(page).toMatch(/, until <time datetime="[^"]+">\d+ \w+ \d{4}, \d\d:\d\d<\/time> \(plan /u);
  const [month] = readTable(page, /Calls, export rows and overage of all runs/u);
  expect(month?.slice(0, 2)).toEqual(['Nov 2026', '3']);
  expect(page).toMatch(/All runs together compared \d+ items? and found no difference|No run compared a sample/u);
});

test('a shop and the copy show when their sources were last seen', async () => {
  const own = readTable(await explored.page('/shops/33'), /The sources of this shop/u);
  expect(own.map((row) => row.slice(0, 2))).toEqual([[expect.stringMatching(/^\d+$/u), 'no']]);
  const all = readTable(await explored.page('/copy'), /The 20 stalest sources/u);
  expect(all.map(([shop]) => shop).sort()).toEqual(['Depot', 'Kiosk', 'Market', 'Museum']);
  expect(all.map((row) => row.at(-1)).sort()).toEqual(['1', '2', '2', '61']);
});

test('a shop shows which attributes are not mapped', async () => {
  const page = await explored.page('/shops/33');
  expect(page).toContain('no attribute is mapped to the regular price');
  expect(page).toContain('no attribute is mapped to availability');
});

test('the page of the price list shows positions, suggestions, and shops below', async () => {
  const page = await explored.page('/list?suggest_by=cheapest&suggest_minus=5');
  expect(readTable(page, /Each line of the list/u).map((row) => [row[0], row[4], row[6]])).toEqual([
    ['Rádio Nôtre 7 acme-r1', '2 of 4', '80.00 Market'],
    ['Pencil 4006381333931', '2 of 2', '1.99 Museum'],
  ]);
  expect(page).toContain('85.00'); // the suggestion stays at the lowest allowed price
  expect(readTable(page, /Every time that a shop was below one/u).length).toBe(1);
});

test('an analysis has a form for its variables, its rows and its SQL', async () => {
  const page = await explored.page('/analyses/find_products?q=radio&currency=EUR');
  expect(page).toContain('<input name="min_shops"');
  expect(readTable(page, /<span>1 row/u)).toHaveLength(1);
  expect(page).toContain('SET VARIABLE q = &#39;radio&#39;;');
  expect(page).toContain('pricelake query --analysis find_products --set q=radio --set currency=EUR');
});

test.each([
  ['assortment_gaps', 200, 'To see rows, fill in Your shop.'],
  ['offers', 200, 'To see rows, fill in Product.'],
  ['law_of_one_price', 200, '<code>pricelake query --analysis law_of_one_price --fx rates.csv'],
  ['weighted_index', 200, '<code>pricelake query --analysis weighted_index --weights weights.csv'],
  ['find_products?min_shops=many', 400, 'role="alert"'],
])('%s, which lacks a value, shows its form and its SQL', async (analysis, status, text) => {
  const answer = await explored.get(`/analyses/${analysis}`);
  expect(answer.status).toBe(status);
  const page = await answer.text();
  expect(page).toContain(text);
  expect(page).toContain('<form id="filters"');
  expect(page).toContain('<pre id="sql"');
});

test('the changes of a product are words, not JSON, and a column of numbers has the same number of decimals', async () => {
  const page = await explored.page('/analyses/product_changes?product=acme-r1');
  expect(page).not.toContain('{&quot;');
  const lows = await explored.page('/analyses/lows_highs?product=acme-r1');
  const decimals = (name: string) =>
    new Set(
      [...lows.matchAll(new RegExp(`data-label="${name}">([^<]*)<`, 'gu'))].map(
        ([, text = '']) => text.split('.')[1]?.length ?? 0,
      ),
    );
  expect([decimals('In the last days'), decimals('Mean')]).toEqual([new Set([0]), new Set([2])]);
});

test('analyses are grouped under questions, with few settings visible and names in place of ids', async () => {
  const menu = await explored.page('/analyses');
  expect(menu).toMatch(
    /<h2>What moved\?<\/h2>\s*<ul class="plain"><li><a href="\/analyses\/movers">Prices that moved<\/a>/u,
  );
  for (const plumbing of UNLISTED_ANALYSES) expect(menu).not.toContain(`/analyses/${plumbing}"`);
  const page = await explored.page('/analyses/movers?since_run=1&kind=fall');
  expect(page).toContain('<h1><bdi>Prices that moved</bdi></h1>');
  const [form = ''] = /<form id="filters"[\s\S]*?<\/form>/u.exec(page) ?? [];
  const [open = '', folded = ''] = form.split('<details class="more" open>');
  expect([...open.matchAll(/ name="(\w+)"/gu)].map(([, name]) => name)).toEqual([
    ...['product', 'category', 'currency', 'site_id', 'kind'],
  ]);
  expect(folded).toContain('name="since_run"');
  expect(open).toMatch(/<label>Shop <select name="site_id">[\s\S]*<option value="33">Market<\/option>/u);
  expect(readTable(page, /<span>(?:Rows |\d+ rows?)/u).map((row) => row.slice(0, 2))).toEqual([
    ['Rádio Nôtre 7', 'Market'],
  ]);
  expect(page).not.toMatch(/data-name="(?:item_id|site_id|product_id)"/u);
});

test('every analysis is in the menu exactly once, or omitted on purpose', () => {
  const placed = [...ANALYSIS_GROUPS.flatMap(({ titles }) => Object.keys(titles)), ...UNLISTED_ANALYSES];
  expect(new Set(placed).size).toBe(placed.length);
  expect(placed.filter((name) => listAnalyses().includes(name)).sort()).toEqual(listAnalyses());
  expect(placed.filter((name) => !isExplored(name))).toEqual([]);
});

test("the variables of one page don't affect the next", async () => {
  await explored.page('/analyses/find_products?q=radio');
  for (let n = 0; n < 4; n++) {
    expect(
      readTable(await explored.page(`/analyses/find_products?min_shops=${n}`), /<span>(?:Rows |\d+ rows?)/u).length,
    ).toBe(n < 2 ? 50 : n < 4 ? 1 : 0);
  }
});

test('rows download as CSV with raw numbers and ISO times, one value a column', async () => {
  const answer = await explored.get('/analyses/product_spells.csv?product=acme-r1');
  expect(answer.headers.get('content-disposition')).toBe('attachment; filename="product_spells.csv"');
  const [head, first] = (await answer.text()).split('\r\n');
  expect(head).toBe(
    'site_id,shop,item_id,product_id,currency,price,from_at,to_at,began,ended,is_suspect,is_counted,known_until,attribution',
  );
  expect(first).toMatch(/^33,Market,\d+,acme-r1,EUR,105\.0000,2026-11-17T\d\d:\d\d:\d\d(\.\d+)?Z,2026-11-19T/u);
});

test('rows can be downloaded as Parquet and as Arrow, with the credits', async () => {
  const file = join(folder, 'found.parquet');
  await writeFile(
    file,
    Buffer.from(await (await explored.get('/analyses/find_products.parquet?q=radio')).arrayBuffer()),
  );
  const db = await Database.open();
  expect(await db.rows(`SELECT product_id, min_price::VARCHAR AS price FROM '${file}'`)).toEqual([
    { product_id: 'acme-r1', price: '80.0000' },
  ]);
  const row = await db.row(`SELECT decode(value) AS text FROM parquet_kv_metadata('${file}')`);
  expect(row?.text).toBe('["CC BY 4.0"]');
  await db.close();
  const arrow = tableFromIPC(
    new Uint8Array(await (await explored.get('/analyses/find_products.arrow?q=radio')).arrayBuffer()),
  );
  expect(arrow.numRows).toBe(1);
  expect(arrow.schema.metadata.get('attribution')).toBe('["CC BY 4.0"]');
});

test('a download with an invalid variable is an error page, not a partial file', async () => {
  const answer = await explored.get('/analyses/find_products.csv?min_shops=many');
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain('many');
});

test("the reader's own SQL is answered with its rows", async () => {
  const page = await explored.page(
    `/sql?sql=${encodeURIComponent('SELECT site_id, count(*) AS n FROM items GROUP BY ALL ORDER BY n, site_id')}`,
  );
  expect(readTable(page, /rows? in/u)).toEqual([
    ['33', '1'],
    ['11', '2'],
    ['22', '2'],
    ['44', '61'],
  ]);
});

test('a result with more rows than a page shows is reported as such', async () => {
  const page = await explored.page(`/sql?sql=${encodeURIComponent('SELECT * FROM range(1500)')}`);
  expect(page).toContain('the first 1,000 rows are shown');
  expect(readTable(page, /rows? in/u)).toHaveLength(1000);
});

test("the reader's own SQL leaves no memory in use and no files, even if not all rows are shown", async () => {
  const ask = (sql: string) => explored.page(`/sql?sql=${encodeURIComponent(sql)}`);
  await ask('SELECT 1');
  const before = process.memoryUsage().rss;
  for (let time = 0; time < 2; time++) {
    const page = await ask(`WITH kept AS MATERIALIZED (SELECT range AS x, hash(range)::VARCHAR AS y FROM range(1000000))
      SELECT x, y, z FROM kept JOIN (SELECT x + 1 AS x, y AS z FROM kept) USING (x)`);
    expect(page).toContain('the first 1,000 rows are shown');
  }
  expect(process.memoryUsage().rss - before).toBeLessThan(50_000_000);
  const left = (await readdir(tmpdir(), { recursive: true })).filter((name) =>
    new RegExp(`explore-.*-${process.pid}-[^/]*/[\\w-]{36}\\.(?:sql|parquet)$`, 'u').test(name),
  );
  expect(left).toEqual([]);
});

test("viewing pages doesn't change the lake", async () => {
  const list = async () => {
    const names = await readdir(explored.story.lakePath, { recursive: true });
    const infos = await Promise.all(
      names.map(async (name) => `${name} ${(await stat(join(explored.story.lakePath, name))).mtimeMs}`),
    );
    return infos.sort();
  };
  const before = await list();
  for (const path of ['/', '/products?q=bead', '/products/acme-r1', '/analyses/movers', '/copy'])
    await explored.page(path);
  expect(await list()).toEqual(before);
});

test('the own shop is not a competitor on any part of its page', async () => {
  const list = join(folder, 'own.csv');
  await writeFile(list, 'product,price,currency,lowest\nacme-r1,99.00,EUR,85.00\n');
  const own = await explore(explored.story, { list, ownSite: 33n });
  const page = await own.page('/list?suggest_by=cheapest');
  await own.close();
  expect(readTable(page, /Each line of the list/u).map((row) => [row[4], row[6]])).toEqual([
    ['1 of 3', '100.00 Kiosk'],
  ]);
  expect(readTable(page, /A price for each line/u)[0]?.join()).toContain('Kiosk');
  expect(page).toContain('No shop was below a lowest allowed price');
});

test('suspect past prices are shown only on request', async () => {
  const read = async (set: string) =>
    readTable(await explored.page(`/analyses/product_spells?product=jump-j1${set}`), /<span>(?:Rows |\d+ rows?)/u);
  const isSuspect = (rows: string[][]) => rows.map((row) => row[8]);
  expect(isSuspect(await read(''))).toContain('yes');
  expect(isSuspect(await read('&with_suspects=true'))).not.toContain('yes');
});
