/** Compares the pages for two dates with the known prices of the story. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStory, type Story } from '../front/story.js';
import { type Explored, explore } from './explored.js';

const COFFEE = { gtin: '4006381333931', title: 'Coffee', currency: 'EUR' };
const PATH = '/products/4006381333931';
/** The 4th at 00:00, and the 16th at 24:00. */
const DAYS = 'date=2026-11-04&until=2026-11-16';
let story: Story;
let explored: Explored;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'explore-dates-'));
  const list = join(folder, 'mine.csv');
  await writeFile(list, 'product,price,currency\n4006381333931,9.50,EUR\n');
  story = await openStory();
  story.at('01 00:00');
  const kiosk = story.add({ ...COFFEE, siteId: 11n, price: 900 });
  const museum = story.add({ ...COFFEE, siteId: 22n, price: 1000 });
  const market = story.add({ ...COFFEE, siteId: 33n, price: 800 });
  const tea = story.add({ gtin: '4006381333948', title: 'Tea', currency: 'EUR', siteId: 22n, price: 500 });
  for (const [time, item, price] of [
    ['02 00:00', tea, 450],
    ['10 00:00', market, 1200],
    ['12 00:00', market, 1100],
    ['16 23:00', kiosk, 850],
    ['17 01:00', museum, 700],
    ['18 00:00', tea, 550],
  ] as const) {
    story.at(time);
    story.change(item, { price });
  }
  story.at('06 00:00');
  story.remove(tea);
  story.at('19 00:00');
  story.relist(tea);
  story.at('14 00:00');
  story.add({ ...COFFEE, siteId: 44n, price: 990 });
  story.at('20 00:00');
  await story.run();
  explored = await explore(story, { list });
});
afterAll(async () => {
  await explored.close();
  await story.close();
  await rm(folder, { recursive: true });
});

/** Cells of each row of the first table of an analysis. */
function readRows(page: string, analysis: string): string[][] {
  const tables = [...page.matchAll(new RegExp(`data-analysis="${analysis}">([\\s\\S]*?)</table>`, 'gu'))];
  const rows = tables.flatMap(([, table = '']) => [
    ...table.matchAll(/<tr role="row"><th scope="row"[\s\S]*?<\/tr>/gu),
  ]);
  return rows.map(([row]) =>
    [...row.matchAll(/<t[hd][^>]*>([\s\S]*?)<\/t[hd]>/gu)].map(([, cell = '']) =>
      cell
        .replaceAll(/<[^>]*>/gu, ' ')
        .replaceAll(/\s+/gu, ' ')
        .trim(),
    ),
  );
}

test("a product shows each listing's price on both dates, and draws the time between them", async () => {
  const page = await explored.page(`${PATH}?${DAYS}`);
  const rows = readRows(page, 'compared_listings').map((row) => row.slice(0, 4).join(' | '));
  expect(rows).toEqual([
    'Kiosk | 9.00 | 8.50 | -0.50',
    'Market | 8.00 | 11.00 | 3.00',
    'Depot | – | 9.90 | –',
    'Museum | 10.00 | 10.00 | 0.00',
  ]);
  const [, days = ''] = /class="days"[^>]*>(.*?)<\/div>/u.exec(page) ?? [];
  expect(days.replaceAll(/<[^>]*>/gu, '|')).toBe('|4 Nov 2026||10 Nov 2026||16 Nov 2026|');
  expect(page).toContain('name="date" value="2026-11-04"');
});

test('the dates may be given in either order, and a single date is compared with now', async () => {
  const swapped = await explored.page(`${PATH}?date=2026-11-16&until=2026-11-04`);
  const same = await explored.page(`${PATH}?${DAYS}`);
  expect(readRows(swapped, 'compared_listings')).toEqual(readRows(same, 'compared_listings'));
  const now = readRows(await explored.page(`${PATH}?date=2026-11-04`), 'compared_listings');
  expect(now.map((row) => row.slice(0, 3).join(' | '))).toContain('Museum | 10.00 | 7.00');
});

test.each([
  ['/products?q=coffee', 'find_products'],
  ['/list?', 'watched_lines'],
])('%s shows the lowest price on both dates, with its shop', async (path, analysis) => {
  const [row = []] = readRows(await explored.page(`${path}&${DAYS}`), analysis);
  expect(row.join(' | ')).toContain('8.00 Market | 8.50 Kiosk | +6.3 %');
});

test('Today shows only what moved between both dates', async () => {
  const page = await explored.page(`/?${DAYS}`);
  const rows = readRows(page, 'compared_listings').map((row) => [row[0], ...row.slice(2, 5)].join(' | '));
  expect(rows).toEqual([
    'Coffee | Kiosk | 9.00 | 8.50',
    'Coffee | Market | 8.00 | 11.00',
    'Coffee | Depot | 9.90 | EUR',
    'Tea | Museum | 4.50 | EUR',
  ]);
  expect(page).toContain('from the beginning of 4 Nov 2026 to the end of 16 Nov 2026');
  const ofShop = await explored.page(`/?${DAYS}&site_id=33`);
  expect(readRows(ofShop, 'compared_listings').map((row) => row[0])).toEqual(['Coffee']);
});

test('Since selects no other time while dates are given', async () => {
  const choose = async (address: string) =>
    /<select name="since">[\s\S]*?<option value="([^"]*)" selected>/u.exec(await explored.page(address))?.[1];
  expect(await choose(`/?since=day&${DAYS}`)).toBe('');
  expect(await choose('/?since=day&date=2026-11-04')).toBe('');
  expect(await choose('/?since=day&until=2026-11-16')).toBe('day');
});

test('a shop shows its moves between both dates', async () => {
  const rows = readRows(await explored.page(`/shops/22?${DAYS}`), 'compared_listings');
  expect(rows.map((row) => row.slice(0, 3).join(' | '))).toEqual(['Tea | Museum | gone']);
});

test.each(['date=2026-02-30', 'date=x&until=y', 'until=2026-11-04', 'date=0001-01-01&until=9999-12-31'])(
  'pages with the invalid dates %s are still shown',
  async (days) => {
    for (const path of [PATH, '/products', '/', '/list', '/shops/22']) {
      expect([path, (await explored.get(`${path}?${days}`)).status]).toEqual([path, 200]);
    }
  },
);
