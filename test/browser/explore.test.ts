import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Explored, explore, tellMarket } from '../explore/explored.js';
import { launchChromium } from './chromium.js';

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true } as const;
const PAGES = [
  '/',
  '/products',
  '/products/acme-r1',
  '/shops',
  '/shops/33',
  '/categories',
  '/list',
  '/list/matrix',
  '/views',
  '/?date=2026-11-17&until=2026-11-18',
  '/products?date=2026-11-17&hide=brand',
  '/products/acme-r1?date=2026-11-17&until=2026-11-18',
  '/analyses',
  '/analyses/movers',
  '/copy',
  '/sql',
  '/sql?sql=SELEC',
  '/credits',
  '/none',
];

let browser: Browser;
let explored: Explored;
beforeAll(async () => {
  browser = await launchChromium();
  explored = await explore(await tellMarket());
});
afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
});
afterAll(async () => {
  await browser.close();
  await explored.close();
  await explored.story.close();
});

/** Opens the address that the command prints, and records forbidden actions of pages. */
async function open(
  options: BrowserContextOptions = {},
): Promise<{ page: Page; trouble: string[]; go(path: string): Promise<void> }> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const trouble: string[] = [];
  page.on('console', (message) => trouble.push(`console ${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => trouble.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => trouble.push(`dialog: ${dialog.message()}`));
  page.on('request', (request) => {
    if (!request.url().startsWith(explored.base) && !request.url().startsWith('data:'))
      trouble.push(`request: ${request.url()}`);
  });
  await page.goto(explored.url);
  return {
    ...{ page, trouble },
    go: async (path) => {
      await page.goto(explored.base + path);
    },
  };
}

const isRefusal = (line: string) => /status of 4\d\d/u.test(line);

describe('the pages of explore in a browser', () => {
  it('open with the printed address, drop its secret, and run no code from texts', async () => {
    const { page, trouble, go } = await open();
    expect(page.url()).toBe(`${explored.base}/`);
    for (const path of PAGES) await go(path);
    await go('/products?q=kettle');
    expect(await page.locator('tbody th').first().textContent()).toContain('<script>alert("x")</script>');
    expect(trouble.filter((line) => !isRefusal(line))).toEqual([]);
  });

  it.each(PAGES)('%s has no violation that axe finds, light or dark, wide or narrow', async (path) => {
    for (const options of [{}, { ...PHONE, colorScheme: 'dark' as const }]) {
      const { page, go } = await open(options);
      await go(path);
      await page.evaluate(axe.source);
      const violations = await page.evaluate(
        'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" | ")))',
      );
      expect(violations).toEqual([]);
      await page.context().close();
    }
  });

  it.each(PAGES)('%s is no wider than a phone', async (path) => {
    const { page, go } = await open(PHONE);
    await go(path);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  });

  it('a phone shows 25 products in rows of three lines, and all 50 of the page on request', async () => {
    const { page, go } = await open(PHONE);
    await go('/products');
    const measure = async () => {
      const boxes = await Promise.all((await page.locator('#found tbody tr').all()).map((row) => row.boundingBox()));
      const heights = boxes.flatMap((box) => (box === null ? [] : [box.height]));
      return { rows: heights.length, highest: Math.max(...heights) };
    };
    const brief = await measure();
    expect(brief.rows).toBe(25);
    expect(brief.highest).toBeLessThan(90);
    expect(await page.evaluate('document.documentElement.scrollHeight')).toBeLessThan(6000);
    // One head above the rows names the four values of each.
    expect(await page.locator('#found thead th:visible').allInnerTexts()).toHaveLength(5);
    await page.locator('.all').tap();
    expect((await measure()).rows).toBe(50);
  });

  it('notes of settings stand below their fields, and the table beside them fits a wide page', async () => {
    const { page, go } = await open({ viewport: { width: 1440, height: 900 } });
    await go('/analyses/movers?since=2026-11-01');
    await page
      .locator('details.more')
      .first()
      .evaluate((details) => details.setAttribute('open', ''));
    const gaps = await page.locator('.settings > div').evaluateAll((settings) =>
      settings.map((setting) => {
        const [field, note] = [...setting.querySelectorAll('input, select, small')].map((one) =>
          one.getBoundingClientRect(),
        );
        return (note?.top ?? 0) - (field?.bottom ?? 0);
      }),
    );
    expect(gaps.length).toBeGreaterThan(3);
    expect(gaps.filter((gap) => gap < 0)).toEqual([]);
    const labels = await page.locator('.settings label').evaluateAll((all) =>
      all.map((label) => {
        const cell = label.closest('.settings > div') ?? label;
        return label.getBoundingClientRect().right - cell.getBoundingClientRect().right;
      }),
    );
    expect(labels.filter((beyond) => beyond > 1)).toEqual([]);
    const frame = page.locator('.frame').first();
    expect(await frame.evaluate((one) => one.scrollWidth - one.clientWidth)).toBeLessThanOrEqual(0);
    // The moment is the same in all rows, so the caption says it once.
    expect(await frame.locator('caption').textContent()).toMatch(/; since 1 Nov 2026/u);
    expect(await frame.locator('th[data-name=since]').count()).toBe(0);
  });

  it('a table that is wider than the page scrolls in its own frame, with its first column in view', async () => {
    const { page, go } = await open({ viewport: { width: 1440, height: 900 } });
    await go(`/sql?sql=${encodeURIComponent('SELECT * FROM items')}`);
    const frame = page.locator('.frame').first();
    const moved = await frame.evaluate((one) => {
      one.scrollLeft = one.scrollWidth;
      const { left } = one.getBoundingClientRect();
      const all = [...one.querySelectorAll('thead th:first-child, tbody th')];
      const heads = all.filter((head) => head.getClientRects().length > 0);
      return { by: one.scrollLeft, gone: heads.filter((head) => head.getBoundingClientRect().left < left - 1).length };
    });
    expect([moved.by > 0, moved.gone]).toEqual([true, 0]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(1440);
  });

  it('a result of SQL with many rows shows fifty of them first', async () => {
    const { page, go } = await open({ viewport: { width: 1440, height: 900 } });
    await go(`/sql?sql=${encodeURIComponent('SELECT range AS n FROM range(1, 1001)')}`);
    const rows = page.locator('tbody tr').filter({ visible: true });
    expect(await rows.count()).toBe(50);
    await page.getByLabel('Show all 1,000 rows').check();
    expect(await rows.count()).toBe(1000);
  });

  it('choosing a product by the words of its title shows the rows of the analysis', async () => {
    const { page, go, trouble } = await open();
    await go('/analyses/offers');
    await page.locator('.filters input[name=product]').pressSequentially('radio');
    const options = page.locator('#products option');
    await expect.poll(() => options.count()).toBe(1);
    expect([await options.getAttribute('value'), await options.textContent()]).toEqual(['acme-r1', 'Rádio Nôtre 7']);
    await page.locator('.filters button').click();
    await page.getByRole('link', { name: 'Rádio Nôtre 7' }).click();
    await page.waitForURL(/product=acme-r1/u);
    expect(await page.locator('table[data-analysis=offers] tbody tr').count()).toBe(3);
    expect(trouble).toEqual([]);
  });

  it('an analysis shows the trusted figures first, as many columns as fit, and the others on request', async () => {
    const { page, go } = await open({ viewport: { width: 1440, height: 900 } });
    await go('/analyses/widest_spreads?min_shops=2');
    const frame = page.locator('.frame').first();
    const width = () => frame.evaluate((one) => one.scrollWidth - one.clientWidth);
    expect(await width()).toBeLessThanOrEqual(0);
    const names = () =>
      frame.locator('thead th').evaluateAll((heads) => heads.map((head) => head.getAttribute('data-name')));
    const shown = await names();
    expect(shown).toHaveLength(14);
    expect(shown).toContain('trusted_max');
    expect(shown).not.toContain('stddev');
    await page.locator('summary', { hasText: /^Leave out columns \(\d+ left out\)$/u }).click();
    const left = page.locator('.boxes input:checked');
    while ((await left.count()) > 0) await left.first().uncheck();
    await page.locator('.filters button').click();
    await page.waitForURL(/hide=-/u);
    expect((await names()).length).toBeGreaterThan(20);
    expect(await page.locator('summary', { hasText: 'Leave out columns' }).textContent()).toBe('Leave out columns');
  });

  it('no value runs into the next one on a phone', async () => {
    const { page, go } = await open(PHONE);
    for (const path of ['/analyses/assortment', '/analyses/movers?since=2026-11-01', '/analyses/daily_spreads']) {
      await go(path);
      const wide = await page
        .locator('.cards tbody :is(td, th):visible')
        .evaluateAll((cells) =>
          cells.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent),
        );
      expect([path, wide]).toEqual([path, []]);
    }
  });

  it('a phone shows the shop and the prices of each row of an analysis', async () => {
    const { page, go } = await open(PHONE);
    await go('/analyses/movers');
    const row = page.locator('table[data-analysis=movers] tbody tr').first();
    const labels = await row
      .locator('td:visible')
      .evaluateAll((cells) => cells.map((one) => one.getAttribute('data-label')));
    expect(labels).toEqual(['Shop', 'Kind', 'Currency', 'Price before', 'Price']);
    await page.locator('summary', { hasText: 'More settings' }).tap();
    expect((await page.locator('.settings').boundingBox())?.width).toBe(358);
  });

  it('a phone shows the shop of each move, because several shops may move the price of one product', async () => {
    const { page, go } = await open(PHONE);
    await go('/?since=day');
    const cell = page.locator('table[data-analysis=movers] tbody tr td[data-label=Shop]').first();
    expect([await cell.isVisible(), await cell.textContent()]).toEqual([true, 'Market']);
  });

  it('finds products while one types, and updates the address', async () => {
    const { page, go } = await open();
    await go('/products');
    await page.keyboard.press('/');
    await page.keyboard.type('rádio');
    await expect.poll(() => page.locator('#found tbody tr').count()).toBe(1);
    await page.waitForURL(`${explored.base}/products?q=r%C3%A1dio`);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/products\/acme-r1/u);
    expect(await page.locator('h1').textContent()).toBe('Rádio Nôtre 7');
  });

  it('keeps the filters when words are typed', async () => {
    const { page, go } = await open();
    await go('/products?min_shops=2');
    await page.locator('.bar input[type=search]').fill('7');
    await page.waitForURL(/q=7/u);
    expect(page.url()).toContain('min_shops=2');
    expect(await page.locator('#found tbody tr').count()).toBe(1);
  });

  it('updates the counts beside the filters while one types', async () => {
    const { page, go, trouble } = await open();
    await go('/products');
    const shops = page.locator('select[name=site_id] option');
    expect(await shops.allTextContents()).toEqual(['any', 'Depot (61)', 'Kiosk (2)', 'Museum (2)', 'Market (1)']);
    await page.locator('.bar input[type=search]').fill('rádio');
    await expect
      .poll(() => shops.allTextContents(), { timeout: 15_000 })
      .toEqual(['any', 'Kiosk (1)', 'Museum (1)', 'Market (1)']);
    expect(await page.locator('#found caption').textContent()).toMatch(/^1 product with a price/u);
    await page.locator('select[name=site_id]').selectOption({ label: 'Museum (1)' });
    await page.waitForURL(/site_id=22/u);
    expect(page.url()).not.toContain('part=');
    expect(trouble).toEqual([]);
  });

  it('works without the script', async () => {
    const { page, go } = await open({ javaScriptEnabled: false });
    await go('/products');
    await page.locator('.bar input[type=search]').fill('radio');
    await page.locator('.filters button').click();
    expect(await page.locator('#found tbody tr').count()).toBe(1);
    await page.locator('#found thead a').first().click();
    expect(page.url()).toContain('sort=title');
  });

  it("shows numbers in the reader's notation, and copies them exactly", async () => {
    const { page, go } = await open({ locale: 'de-DE' });
    await go('/products?min_shops=2');
    const price = page.locator('#found td[data-label="Most expensive"]').first();
    expect(await price.textContent()).toBe('110,00');
    expect(await price.getAttribute('data-value')).toBe('110.0000');
    await page.locator('.bar input[type=search]').fill('radio');
    await page.waitForURL(/q=radio/u);
    expect(await price.textContent()).toBe('110,00');
  });

  it('sorts a complete table without a request to the server', async () => {
    const { page, go, trouble } = await open();
    await go('/copy');
    const table = page.locator('table[data-analysis=run_costs]');
    expect(await table.locator('thead button').count()).toBe(0);
    const runs = page.locator('table[data-analysis=report_runs]');
    const head = runs.locator('th[data-name=run_number]');
    await head.locator('button').click();
    expect(await head.getAttribute('aria-sort')).toBe('descending');
    await head.locator('button').click();
    expect(await head.getAttribute('aria-sort')).toBe('ascending');
    expect(await runs.locator('tbody th').allTextContents()).toEqual(['1', '2', '3']);
    expect(page.url()).toBe(`${explored.base}/copy`);
    expect(trouble).toEqual([]);
  });

  it('accepts an uploaded list', async () => {
    const { page, go } = await open();
    await go('/list');
    await page.locator('input[type=file]').setInputFiles({
      name: 'mine.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('product,price,currency\nacme-r1,105,EUR\n'),
    });
    await page.locator('main form button').click();
    await page.waitForSelector('table[data-analysis=watched_lines]');
    expect(await page.locator('table[data-analysis=watched_lines] tbody th a').textContent()).toBe('Rádio Nôtre 7');
    await page.locator('summary', { hasText: 'Another list' }).click();
    await page.locator('main details form button').click();
    await page.waitForSelector('text=discarded when explore stops');
  });

  it('shows all prices at the time under the pointer, lowest first', async () => {
    const { page, go, trouble } = await open({ locale: 'de-DE' });
    await go('/products/acme-r1?days=30');
    const box = await page.locator('.plot .lines').boundingBox();
    if (box === null) throw new TypeError('the chart is not shown');
    const told = async (share: number) => {
      await page.mouse.move(box.x + share * box.width, box.y + box.height / 2);
      return page.locator('.tip div').allTextContents();
    };
    expect(await told(0.999)).toEqual(['Market80,00', 'Kiosk100,00', 'Museum110,00']);
    expect(await told(0.95)).toEqual(['Kiosk100,00', 'Market105,00', 'Museum110,00']);
    expect(await told(0.01)).toEqual(['not sold']);
    await page.mouse.move(0, 0);
    expect(await page.locator('.tip').isVisible()).toBe(false);
    expect(trouble).toEqual([]);
  });

  it('completes names in SQL, and runs it by keyboard', async () => {
    const { page, go } = await open();
    await go('/sql');
    const sql = page.locator('textarea');
    await sql.fill('SELECT count(*) AS n FROM item');
    await sql.press('End');
    await sql.press('Tab');
    expect(await sql.inputValue()).toMatch(/FROM item[s_]/u);
    await sql.fill('SELECT count(*) AS n FROM items');
    await sql.press('Control+Enter');
    await page.waitForSelector('tbody');
    expect(await page.locator('tbody th').first().textContent()).toBe('66');
  });
});
