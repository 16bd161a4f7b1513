/**
 * Ten questions of a category manager, each answered within three clicks or one search, on a market whose answers are known.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type Explored, explore } from '../explore/explored.js';
import { OWN_LIST, RADIO, tellQuestions } from '../explore/question-world.js';
import { launchChromium } from './chromium.js';
import { cell, go, rowOf, search } from './clicks.js';

let browser: Browser;
let explored: Explored;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'pricelake-questions-'));
  const list = path.join(folder, 'mine.csv');
  await writeFile(list, OWN_LIST);
  browser = await launchChromium();
  explored = await explore(await tellQuestions(), { list });
  for (const one of ['/list', '/', '/shops']) await explored.page(one);
});
afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
});
afterAll(async () => {
  await browser.close();
  await explored.close();
  await explored.story.close();
  await rm(folder, { recursive: true });
});

/** Opens Today, from where each question begins. */
async function begin(): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  await page.goto(explored.url);
  return page;
}

it('which of my products are above the cheapest that is in stock?', async () => {
  const page = await begin();
  await go(page, 'My list');
  const radio = rowOf(page, 'watched_lines', 'Radio Nova');
  // Depot's 79.00 is out of stock, and its 0.96 is mistyped.
  expect([await cell(radio, 'Your price'), await cell(radio, 'In stock'), await cell(radio, 'Gap')]).toEqual([
    ...['99.00', '84.00 Market', '17.9 %'],
  ]);
});

it('what has changed since yesterday in a category?', async () => {
  const page = await begin();
  await page.getByLabel('Since').selectOption({ label: 'a day ago' });
  await page.getByLabel('Category').selectOption({ label: 'Audio' });
  await page.getByRole('button', { name: 'Show' }).click();
  const rows = page.locator('table[data-analysis=movers] tbody tr');
  expect(await rows.count()).toBe(1);
  expect([await cell(rows, 'Shop'), await cell(rows, 'Before'), await cell(rows, 'Price')]).toEqual([
    ...['Market', '160.00', '84.00'],
  ]);
});

it('who leads price cuts?', async () => {
  const page = await begin();
  await go(page, 'Shops');
  await go(page, /^Which shops lead price cuts/u);
  expect(await page.locator('table[data-analysis=cut_leaders] tbody th').first().textContent()).toBe('Museum');
});

it('is “was 149, now 84” honest?', async () => {
  const page = await begin();
  await search(page, 'radio nova');
  await page.locator('#found tbody th a').first().click();
  const said = page.getByRole('listitem').filter({ hasText: 'Market says' });
  expect(await said.textContent()).toMatch(
    /was 149\.00, now 84\.00 EUR”\. Not honest: it asked 97\.00 within the 30 days/u,
  );
});

it('what is the spread of a GTIN, and why is an offer left out?', async () => {
  const page = await begin();
  await search(page, RADIO);
  await page.locator('#found tbody th a').first().click();
  const spread = page.locator('.figures div').filter({ has: page.locator('dt', { hasText: 'Spread' }) });
  // 88.00 at Museum over 84.00 at Market.
  expect(await spread.textContent()).toMatch(/4\.8\s%/u);
  const left = page.locator('table[data-analysis=offers] tbody tr').filter({ hasText: 'Depot' });
  expect(await left.locator('td[data-label="Left out because"]').allInnerTexts()).toEqual([
    expect.stringMatching(/median of \d shops is/u),
    'out of stock',
  ]);
});

it('what did a shop ask on a date?', async () => {
  const page = await begin();
  await page.goto(`${explored.base}/products/${RADIO}?currency=EUR`);
  await page.getByLabel('Compare').fill('2026-11-16');
  await page.getByLabel('to', { exact: true }).fill('2026-11-16');
  await page.locator('.filters button', { hasText: 'Show' }).click();
  const market = rowOf(page, 'compared_listings', 'Market');
  expect(await cell(market, 'Start of 16 Nov 2026')).toBe('160.00');
});

it('who undercuts me, and since when?', async () => {
  const page = await begin();
  await go(page, 'My list');
  const radio = rowOf(page, 'watched_lines', 'Radio Nova');
  expect(await cell(radio, 'Undercut by')).toContain('Museum');
  expect(await cell(radio, 'Since')).toBe('1 Nov 2026');
});

it('which rivals of my list are out of stock?', async () => {
  const page = await begin();
  await go(page, 'My list');
  await go(page, /rivals out of stock$/u);
  const lines = page.locator('table[data-analysis=watched_lines] tbody tr');
  expect(await lines.locator('th a').allInnerTexts()).toEqual(['Radio Nova', 'Lamp']);
  await lines.filter({ hasText: 'Lamp' }).locator('summary').click();
  expect(await cell(lines.filter({ hasText: 'Lamp' }), 'Left out')).toMatch(
    /27\.5000 Kiosk: out of stock.*27\.5000 Museum: out of stock/u,
  );
});

it('how did the price level of a category move?', async () => {
  const page = await begin();
  await go(page, 'Analyses');
  await go(page, 'Price index');
  await page.locator('select[name=category]').selectOption({ label: 'Office' });
  await page.locator('select[name=period]').selectOption({ label: 'day' });
  await page.locator('.filters button', { hasText: 'Show' }).click();
  const rows = page.locator('table[data-analysis=price_index] tbody tr');
  const levels = async (day: string) => cell(rows.filter({ hasText: day }), 'Jevons');
  // All prices of the category rose by a tenth on the 10th; the pen of one of three shops is cheaper since the 20th.
  expect([await levels('9 Nov 2026'), await levels('15 Nov 2026')]).toEqual(['100.0', '110.0']);
});

it('how did prices differ between two dates?', async () => {
  const page = await begin();
  await page.getByLabel('or from').fill('2026-11-05');
  await page.getByLabel('to', { exact: true }).fill('2026-11-16');
  await page.getByRole('button', { name: 'Show' }).click();
  const rows = page.locator('table[data-analysis=compared_listings] tbody tr');
  const told = await Promise.all(
    (await rows.all()).map(async (row) => [
      await row.locator('th').textContent(),
      await cell(row, 'Shop'),
      await cell(row, 'Before'),
      await cell(row, 'Price'),
    ]),
  );
  expect(told.toSorted()).toEqual(
    [
      ['Radio Nova', 'Kiosk', '92.00', '87.00'],
      ['Radio Nova', 'Museum', '93.00', '88.00'],
      ['Radio Nova', 'Market', '97.00', '160.00'],
      ['Lamp', 'Kiosk', '25.00', '27.50'],
      ['Lamp', 'Museum', '25.00', '27.50'],
      ['Pen', 'Kiosk', '10.00', '11.00'],
      ['Pen', 'Market', '10.00', '11.00'],
      ['Pen', 'Museum', '10.00', '11.00'],
    ].toSorted(),
  );
});

it('choosing Since replaces the two dates', async () => {
  const page = await begin();
  await page.goto(`${explored.base}/?date=2026-11-05&until=2026-11-16`);
  await page.getByLabel('Since').selectOption({ label: 'a week ago' });
  await page.getByRole('button', { name: 'Show' }).click();
  await page.locator('table[data-analysis=movers]').first().waitFor();
  expect([await page.getByLabel('Since').inputValue(), await page.getByLabel('or from').inputValue()]).toEqual([
    ...['week', ''],
  ]);
});
