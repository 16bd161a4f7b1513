import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { writeReport } from '../../src/cli/actions/write-report.js';
import { act, openContext } from '../cli/open-context.js';
import { tellMarket } from '../explore/explored.js';
import { launchChromium } from './chromium.js';

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true } as const;

let browser: Browser | undefined;
let folder: string;
let url: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'pricelake-browser-'));
  browser = await launchChromium();
  const file = path.join(folder, 'report.html');
  const story = await tellMarket();
  story.at('19 10:00');
  for (let n = 0; n < 34; n++) {
    const lamp = { brand: 'Lux', mpn: `L-${n}`, title: n === 7 ? 'Lámpara ÉLITE' : `Lamp ${n}` };
    story.add({ ...lamp, siteId: 11n, price: 1000 });
    story.add({ ...lamp, siteId: 22n, price: 1010 + n });
  }
  await story.run();
  await act(writeReport, { lake: story.lakePath, output: file, top: 50, minShops: 2 }, openContext());
  await story.close();
  url = pathToFileURL(file).href;
});
afterEach(async () => {
  for (const context of browser?.contexts() ?? []) await context.close();
});
afterAll(async () => {
  await browser?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Opens the report, and records forbidden actions of the page. */
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

/** A table by the part of the report that has it. */
const tableOf = (page: Page, part: string) => page.locator(`#${part} table`).first();

describe('the report in a browser', () => {
  it('requests nothing, logs nothing, and runs no code from texts', async () => {
    const { page, trouble } = await openReport();
    for (const summary of await page.locator('summary:visible').all()) await summary.click();
    expect(await page.evaluate('window.broken')).toBeUndefined();
    expect(await page.locator('h3').first().isVisible()).toBe(true);
    expect(await page.locator('script').count()).toBe(1);
    expect(trouble).toEqual([]);
  });

  it('is protected by its content security policy even if a script gets in', async () => {
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

  it('sorts by keyboard, and announces the order', async () => {
    const { page, trouble } = await openReport();
    const table = tableOf(page, 'shops');
    const shops = () => table.locator('tbody th').allTextContents();
    const head = table.locator('th[data-name=price_index]');
    await head.locator('button').focus();
    await page.keyboard.press('Enter');
    expect(await head.getAttribute('aria-sort')).toBe('descending');
    expect(await table.locator('th[data-name=products]').getAttribute('aria-sort')).toBe('none');
    const falling = await shops();
    await page.keyboard.press('Space');
    expect(await head.getAttribute('aria-sort')).toBe('ascending');
    expect(await shops()).toEqual(falling.reverse());
    expect(new Set(falling).size).toBe(3);
    expect(trouble).toEqual([]);
  });

  it('opens the product that a link leads to', async () => {
    const { page, trouble } = await openReport();
    const product = page.locator('#product-1');
    expect(await product.isVisible()).toBe(false);
    await tableOf(page, 'products').locator('tbody a').first().click();
    await expect.poll(() => product.isVisible()).toBe(true);
    expect(await product.locator('.prices .legend li').count()).toBe(3);
    expect(trouble).toEqual([]);
  });

  it('finds rows while one types, ignoring accents', async () => {
    const { page } = await openReport();
    const rows = tableOf(page, 'products').locator('tbody tr').filter({ visible: true });
    expect(await rows.count()).toBe(35);
    await page.locator('#products .find input').fill('elite lampara');
    expect(await rows.count()).toBe(1);
    await page.locator('#products .find input').fill('');
    expect(await rows.count()).toBe(35);
  });

  it('finds rows that a phone shows only on request', async () => {
    const { page } = await openReport(PHONE);
    const rows = tableOf(page, 'products').locator('tbody tr').filter({ visible: true });
    expect(await rows.count()).toBe(25);
    await page.locator('#products .find input').fill('elite lampara');
    expect(await rows.count()).toBe(1);
  });

  it('copies a table as CSV with column names, exact values, credits, and no cell that a spreadsheet would compute', async () => {
    const { page, trouble } = await openReport();
    const download = page.waitForEvent('download');
    await page.locator('#products .tools button').first().click();
    const lines = (await readFile(await (await download).path(), 'utf8')).trimEnd().split('\r\n');
    expect((await download).suggestedFilename()).toBe('find_products.csv');
    expect(lines[0]).toMatch(
      /^"title","change_30_days_pct","brand",.*"min_price","median_price","max_price","currency","spread_pct","grade",.*,"credits"$/u,
    );
    expect(lines[1]).toMatch(
      /^"Rádio Nôtre 7","-?[\d.]+","Acme","3",.*"80.0000","100.0000","110.0000","EUR","37.5","B",.*,"CC BY 4.0"$/u,
    );
    expect(trouble).toEqual([]);
  });

  it('shows every row without scripts', async () => {
    const { page } = await openReport({ javaScriptEnabled: false });
    expect(await page.locator('.find').count()).toBe(0);
    expect(await tableOf(page, 'shops').locator('tbody tr').filter({ visible: true }).count()).toBe(3);
  });

  it('fits a phone: the page never scrolls sideways, and wide parts can be scrolled by keyboard', async () => {
    const { page } = await openReport(PHONE);
    for (const summary of await page.locator('summary:visible').all()) await summary.click();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    // Observers report opened parts in the next frame.
    const stuck = () =>
      page.evaluate(
        `[...document.querySelectorAll('.frame')].filter((frame) => frame.scrollWidth > frame.clientWidth && frame.tabIndex !== 0).length`,
      );
    await expect.poll(stuck).toBe(0);
  });

  it('prints without elements that only a screen needs', async () => {
    const { page } = await openReport({ colorScheme: 'dark' });
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('nav').isVisible()).toBe(false);
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
    for (const summary of await page.locator('summary:visible').all()) await summary.click();
    await page.evaluate(await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'));
    const violations =
      await page.evaluate(`axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'] })
      .then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html, nodes[0].failureSummary]))`);
    expect(violations).toEqual([]);
  });

  it('has charts whose words and shapes contrast with the page', async () => {
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
