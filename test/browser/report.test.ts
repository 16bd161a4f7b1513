import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { HOSTILE, kettleWorld, renderWorld, text, type WorldRows } from '../report/report-world.js';
import { launchChromium } from './chromium.js';

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true } as const;

let browser: Browser | undefined;
let folder: string;
let url: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'pricelake-browser-'));
  browser = await launchChromium();
  const file = path.join(folder, 'report.html');
  await writeFile(file, await renderWorld(wideWorld()));
  url = pathToFileURL(file).href;
});
afterEach(async () => {
  for (const context of browser?.contexts() ?? []) await context.close();
});
afterAll(async () => {
  await browser?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Hostile texts everywhere, and more products than are shown at first: number k spreads over k percent. */
function wideWorld(): WorldRows {
  const world = kettleWorld({ title: HOSTILE, shop: HOSTILE, credit: HOSTILE });
  const lamps = Array.from({ length: 30 }, (_, k) =>
    [100, 110, 120, 130, 130 + k].map((price, site) => ({
      item_id: String(1000 + 10 * k + site),
      title: text(k === 7 ? 'Lámpara ÉLITE' : `Lamp ${k}`),
      product_id: text(`lamp-${k}`),
      gtin: 'NULL',
      gtin14: 'NULL',
      site_id: String(site + 1),
      price: String(price),
    })),
  );
  return { ...world, items: [...(world.items ?? []), ...lamps.flat()] };
}

/** Opens the report; what a page must not do is noted. */
async function openReport(options: BrowserContextOptions = {}): Promise<{ page: Page; trouble: string[] }> {
  if (browser === undefined) throw new Error('Chromium did not start');
  const context = await browser.newContext({ offline: true, ...options });
  const page = await context.newPage();
  const trouble: string[] = [];
  page.on('console', (message) => trouble.push(`console ${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => trouble.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => trouble.push(`dialog: ${dialog.message()}`));
  page.on('request', (request) => {
    if (request.url() !== url && !request.url().startsWith('data:')) trouble.push(`request: ${request.url()}`);
  });
  await page.goto(url);
  return { page, trouble };
}

const firstProduct = (page: Page) => page.locator('#widest tbody tr:visible th bdi').first().textContent();

describe('the report in a browser', () => {
  it('asks for nothing, complains of nothing, and runs nothing that stands in a text', async () => {
    const { page, trouble } = await openReport();
    for (const summary of await page.locator('summary').all()) await summary.click();
    expect(await page.evaluate('window.broken')).toBeUndefined();
    expect(await page.locator('h3').first().isVisible()).toBe(true);
    expect(await page.locator('script').count()).toBe(1);
    expect(trouble).toEqual([]);
  });

  it('is protected by its policy against a script that got in all the same', async () => {
    const { page, trouble } = await openReport();
    await page.evaluate(`
      const script = document.createElement('script');
      try { script.text = 'window.broken = 1'; } catch {}
      script.append('window.broken = 1');
      try { document.body.append(script); } catch {}
      try { document.body.setAttribute('onclick', 'window.broken = 1'); document.body.click(); } catch {}
      try { document.querySelector('h1').innerHTML = '<img src=x onerror="window.broken = 1">'; } catch {}
      fetch('https://elsewhere.example/').catch(() => {});`);
    await page.waitForTimeout(100);
    expect(await page.evaluate('window.broken')).toBeUndefined();
    expect(trouble.filter((line) => line.startsWith('request'))).toEqual([]);
    expect(trouble.length).toBeGreaterThan(0);
  });

  it('sorts by keyboard, and says how', async () => {
    const { page, trouble } = await openReport();
    const head = page.locator('#widest th', { hasText: 'Most expensive' });
    expect(await firstProduct(page)).toContain('script');
    await head.locator('button').focus();
    await page.keyboard.press('Enter');
    expect(await head.getAttribute('aria-sort')).toBe('descending');
    expect(await page.locator('#widest th', { hasText: 'Spread' }).getAttribute('aria-sort')).toBe('none');
    expect(await firstProduct(page)).toBe('Lamp 29');
    await page.keyboard.press('Space');
    expect(await head.getAttribute('aria-sort')).toBe('ascending');
    expect(await firstProduct(page)).toContain('script');
    await page.locator('#widest th button', { hasText: 'Product' }).click();
    const titles = await page.locator('#widest tbody th bdi:first-child').allTextContents();
    expect(titles.indexOf('Lamp 2')).toBeLessThan(titles.indexOf('Lamp 10'));
    expect(trouble).toEqual([]);
  });

  it('finds what is typed, without accents, says how many, and keeps it in the address', async () => {
    const { page } = await openReport();
    await page.getByLabel('Search').fill('elite lampara');
    expect(await page.locator('#widest tbody tr:visible').count()).toBe(1);
    expect(await page.locator('output').textContent()).toBe('1 of 31 found');
    expect(await page.evaluate('location.hash')).toBe('#text=elite+lampara');
    await page.getByLabel('Search').fill('');
    expect(await page.locator('#widest tbody tr:visible').count()).toBe(15);
  });

  it('takes its filters from the address', async () => {
    const { page, trouble } = await openReport();
    await page.goto(`${url}#shop=5&text=lamp+29`);
    await page.reload();
    expect(await page.locator('[data-filter=shop]').inputValue()).toBe('5');
    expect(await page.locator('output').textContent()).toBe('1 of 31 found');
    expect(trouble).toEqual([]);
  });

  it('opens a product below its row, by keyboard, and closes it before rows move', async () => {
    const { page, trouble } = await openReport();
    const link = page.locator('#widest a.open').nth(1);
    await link.focus();
    await page.keyboard.press('Enter');
    expect(await link.getAttribute('aria-expanded')).toBe('true');
    const opened = page.locator('#widest tr.opened');
    expect(await opened.count()).toBe(1);
    expect(await opened.locator('.lines .name').allTextContents()).toContain('Shop 5');
    expect(await opened.locator('tbody th').count()).toBe(5);
    await page.locator('#widest th button', { hasText: 'Product' }).click();
    expect(await opened.count()).toBe(0);
    expect(await page.locator('#history details.product').count()).toBe(31);
    expect(trouble).toEqual([]);
  });

  it('writes a table as CSV with the credits in each row, as it is filtered, and nothing that a spreadsheet computes', async () => {
    const { page, trouble } = await openReport();
    await page.getByLabel('Search').fill('lamp');
    const download = page.waitForEvent('download');
    await page.locator('#spread button.csv').first().click();
    const text = await readFile(await (await download).path(), 'utf8');
    const lines = text.slice(1).trimEnd().split('\r\n');
    expect((await download).suggestedFilename()).toBe('widest.csv');
    expect(lines[0]).toBe(
      '"Product","Cheapest","Median","Most expensive","Difference","Spread","Shops","Grade","Currency","Credits"',
    );
    expect(lines).toHaveLength(31);
    expect(lines[1]).toMatch(/^"Lamp 29 lamp-29","100.0000",.*,"EUR",".*script.*"$/u);
    expect(text).not.toMatch(/(?:^|,)"[=+@]/mu);
    expect(trouble).toEqual([]);
  });

  it('shows the rest of a long table when it is asked, and moves the focus there', async () => {
    const { page } = await openReport();
    await page.locator('#spread .unfold button').focus();
    await page.keyboard.press('Enter');
    expect(await page.locator('#widest tbody tr:visible').count()).toBe(31);
    expect(await page.evaluate('document.activeElement.closest("tr").rowIndex')).toBe(16);
  });

  it('shows every row where scripts are off', async () => {
    const { page } = await openReport({ javaScriptEnabled: false });
    expect(await page.locator('#widest tbody tr').filter({ visible: true }).count()).toBe(31);
    expect(await page.locator('.search').isVisible()).toBe(false);
  });

  it('fits a phone: the page never scrolls sideways, and what does can be scrolled by keyboard', async () => {
    const { page } = await openReport(PHONE);
    for (const summary of await page.locator('summary').all()) await summary.click();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    // Observers tell of what has opened with the next frame.
    const stuck = () =>
      page.evaluate(
        `[...document.querySelectorAll('.frame')].filter((frame) => frame.scrollWidth > frame.clientWidth && frame.tabIndex !== 0).length`,
      );
    await expect.poll(stuck).toBe(0);
  });

  it('prints without what only a screen needs', async () => {
    const { page } = await openReport({ colorScheme: 'dark' });
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('#widest tbody tr:visible').count()).toBe(31);
    expect(await page.locator('nav').isVisible()).toBe(false);
    expect(await page.locator('#widest thead button').first().isVisible()).toBe(false);
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(251, 252, 251)');
    expect((await page.pdf({ format: 'A4' })).length).toBeGreaterThan(10_000);
  });
});

describe.each([
  ['light', { colorScheme: 'light' }],
  ['dark', { colorScheme: 'dark' }],
  ['on a phone', { ...PHONE, colorScheme: 'light' }],
  ['on a phone, dark', { ...PHONE, colorScheme: 'dark' }],
] as const)('the report %s', (_, options) => {
  it('has no fault that axe finds', async () => {
    const { page } = await openReport({ ...options, bypassCSP: true });
    for (const summary of await page.locator('summary').all()) await summary.click();
    await page.evaluate(await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'));
    const violations =
      await page.evaluate(`axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'] })
      .then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html, nodes[0].failureSummary]))`);
    expect(violations).toEqual([]);
  });

  it('has charts whose words and shapes stand out from the page', async () => {
    const { page } = await openReport(options);
    const faint = await page.evaluate(`(() => {
      const light = (color) => {
        const [r, g, b] = color.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255)
          .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const paper = light(getComputedStyle(document.body).backgroundColor);
      const contrast = (color) => {
        const own = light(color);
        return (Math.max(own, paper) + 0.05) / (Math.min(own, paper) + 0.05);
      };
      const wrong = [];
      for (const node of document.querySelectorAll('svg text, svg [fill^="var"], svg [stroke^="var"]')) {
        if (node.closest('.role-axis-grid')) continue;
        const { fill, stroke } = getComputedStyle(node);
        for (const color of [fill, stroke]) {
          if (color !== 'none' && contrast(color) < (node.tagName === 'text' ? 4.5 : 3)) wrong.push(node.outerHTML.slice(0, 200));
        }
      }
      return wrong;
    })()`);
    expect(faint).toEqual([]);
  });
});
