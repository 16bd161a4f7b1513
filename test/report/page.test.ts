import { createHash } from 'node:crypto';
import { Script } from 'node:vm';
import { beforeAll, describe, expect, it } from 'vitest';
import { renderReport } from '../../src/report/page.js';
import type { ReportFacts } from '../../src/report/read-facts.js';
import { HEAD, HOSTILE, kettleWorld, readWorld, renderWorld } from './report-world.js';

let page: string;
let hostile: string;
beforeAll(async () => {
  page = await renderWorld(kettleWorld());
  hostile = await renderWorld(kettleWorld({ title: HOSTILE, shop: HOSTILE, credit: HOSTILE }));
});

const policyOf = (html: string) => /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? '';
const contents = (html: string, tag: string) =>
  [...html.matchAll(new RegExp(`<${tag}\\b[^>]*>(.*?)</${tag}>`, 'gs'))].map(([, text = '']) => text);
const withoutScript = (html: string) => html.replace(/<script>.*<\/script>/s, '');
const readEntities = (text: string) =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

/** Tags in their order; fails where one is not closed in turn, or where an attribute is not quoted. */
function readTags(html: string): { tag: string; attributes: string[] }[] {
  const tags: { tag: string; attributes: string[] }[] = [];
  const open: string[] = [];
  const isVoid = new Set(['meta', 'link', 'input', 'br', 'path', 'line', 'rect', 'circle']);
  const body = html.replace(/<(script|style)>.*?<\/\1>/gs, '').replace('<!doctype html>', '');
  for (const [whole, closes, tag = '', inside = ''] of body.matchAll(
    /<(\/?)([a-z0-9]+)((?:\s+[\w:-]+(?:="[^"<>]*")?)*)\s*\/?>|<[^>]*>?/gi,
  )) {
    if (tag === '') throw new Error(`not a tag: ${whole.slice(0, 80)}`);
    if (closes === '/') expect(open.pop(), whole).toBe(tag);
    else {
      const names = inside.replace(/="[^"]*"/g, '').trim();
      tags.push({ tag, attributes: names.split(/\s+/) });
      if (!isVoid.has(tag) && !whole.endsWith('/>')) open.push(tag);
    }
  }
  expect(open).toEqual([]);
  return tags;
}

describe('the policy of the page', () => {
  it('lets run its one script and its one style by their hashes, and nothing else', () => {
    const policy = readEntities(policyOf(page));
    const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    const [script, ...scripts] = contents(page, 'script');
    const [style, ...styles] = contents(page, 'style');
    expect([scripts, styles]).toEqual([[], []]);
    expect(policy).toContain(`script-src ${hash(script ?? '')};`);
    expect(policy).toContain(`style-src ${hash(style ?? '')};`);
    expect(policy).toMatch(/^default-src 'none'; /);
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    new Script(script ?? '');
  });

  it('is needed by nothing: no handler, no style attribute, no address that is fetched', () => {
    for (const html of [page, hostile]) {
      for (const { tag, attributes } of readTags(html)) {
        const fetching = /^(on.*|style|src|srcset|action|formaction|xlink:href)$/i;
        expect(
          attributes.filter((name) => fetching.test(name)),
          tag,
        ).toEqual([]);
        expect(tag).not.toMatch(/^(iframe|object|embed|img|image|use|foreignObject|base|form)$/);
      }
    }
  });
});

describe('hostile text', () => {
  it('stays text, whichever column it stands in', () => {
    expect(readTags(hostile).map(({ tag }) => tag)).toEqual(readTags(page).map(({ tag }) => tag));
    expect(contents(hostile, 'script')).toEqual(contents(page, 'script'));
    expect(policyOf(hostile)).toBe(policyOf(page));
    expect(hostile).toContain('&quot;&gt;&lt;script&gt;window.broken=1&lt;/script&gt;');
  });

  it('reorders nothing and hides nothing', () => {
    expect(hostile).not.toMatch(/[\u0085\u2028-\u202e\u2066-\u2069]/u);
  });

  it('becomes no link unless it is a web address', () => {
    const links = [...hostile.matchAll(/<a ([^>]*)>/g)].map(([, attributes = '']) => attributes);
    const away = links.filter((attributes) => !attributes.startsWith('href="#'));
    expect(away.length).toBe(4);
    for (const attributes of away) {
      expect(attributes).toMatch(
        /^href="https:\/\/shop-\d\.example\/p\?a=1&amp;b=%222%22" rel="noopener noreferrer nofollow external"$/,
      );
    }
    expect(hostile).not.toContain('javascript:');
  });

  it('is cut where it would fill the page', async () => {
    const long = await renderWorld(kettleWorld({ title: '長い'.repeat(5000) }));
    expect(long.length - page.length).toBeLessThan(20_000);
    expect(long).toMatch(/長い長…/);
  });
});

describe('the page', () => {
  it('has a title, a head with version and time, and parts that the navigation leads to', () => {
    expect(page).toContain('<title>prices: price report</title>');
    expect(page).toContain('<time datetime="2026-11-20T10:00:00.000Z">20 Nov 2026, 10:00 UTC</time> · pricelake 1.2.3');
    const nav = page.slice(page.indexOf('<nav'), page.indexOf('</nav>'));
    const targets = [...nav.matchAll(/<a href="#(\w+)">/g)].map(([, id]) => id);
    expect(targets).toEqual(['spread', 'moves', 'shops', 'history', 'successors', 'copy', 'checks', 'credits']);
    for (const id of targets) expect(page).toContain(`<section id="${id}" aria-labelledby="${id}-title">`);
    const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('has tables with captions, scoped headers and sorts that say how they stand', () => {
    const tables = contents(page, 'table');
    expect(tables.length).toBeGreaterThan(5);
    for (const table of tables) {
      expect(table).toMatch(/<caption><span>\S/);
      expect(table).not.toMatch(/<th (?!scope="(?:col|row)")/);
    }
    expect(page).toMatch(/aria-sort="descending" data-label="Spread"><button type="button">Spread<\/button>/);
    expect(page).toContain('<label>Search <input type="search" data-filter="text"');
  });

  it('has a text for every chart', () => {
    const charts = [...page.matchAll(/<svg role="img" aria-label="([^"]+)"/g)].map(([, label = '']) => label);
    expect(charts).toHaveLength(6);
    for (const label of charts) expect(label.length).toBeGreaterThan(60);
  });

  it('tells the state of the copy, its proof and the ledger', () => {
    expect(page).toContain('1 h before the last run ended');
    expect(page).toContain('08:59 UTC, 1 h 1 min before this report');
    expect(page).toContain('All runs together compared 20 items and found no difference. Run 2');
    expect(page).not.toContain('confidence');
    expect(page).toMatch(/10<\/td><td[^>]*>8<\/td><td[^>]*>0<\/td><td[^>]*>2<\/td><td[^>]*>10<\/td><td[^>]*>yes/);
  });

  it('tells what a check found, with exact ids, what to do, and what passed', () => {
    expect(page).toContain('<strong>2 prices are below zero.</strong>');
    expect(page).toContain('<p class="next">Look at the page.</p>');
    expect(page).toContain('9007199254740993');
    expect(page).toContain('1 check passed');
    expect(page).toContain('1 of 2 <a href="#checks">checks</a> found something: 2 prices are below zero.');
  });

  it('shows exact money', () => {
    expect(page).toContain('<span class="money">10.0001 <small>EUR</small></span>');
    expect(page).toContain('<span class="money">9.9999 <small>EUR</small></span>');
  });

  it('passes on the credits of open data, whole', async () => {
    const credit = `Prices of Beta, ${'very '.repeat(200)}open`;
    expect(await renderWorld(kettleWorld({ credit }))).toContain(`<li><bdi>${credit}</bdi> <small><bdi>Shop 2</bdi>`);
  });
});

describe('a lake that has little to tell', () => {
  it('is told of when it is empty', async () => {
    const empty = await renderWorld({});
    readTags(empty);
    expect(empty).toContain('Nothing is published in this lake yet.');
    const none = ['No run has been checked yet.', 'No product is sold by two shops', 'No shop sells'];
    for (const sentence of [...none, 'There is no product to show.', 'No site in this lake asks']) {
      expect(empty).toContain(sentence);
    }
    expect(withoutScript(empty)).not.toMatch(/NaN|undefined|null|Infinity/);
  });

  it('is told of when it has no history, or no price that can be compared', async () => {
    const { history: _, ...world } = kettleWorld();
    const without = await renderWorld(world);
    expect(without).toContain('The copy knows of no changes yet.');
    expect(without).toContain('The widest spreads');
    const single = await renderWorld({
      ...world,
      items: [{ price: 'NULL' }, { item_id: '2', site_id: '2', currency: 'NULL' }],
    });
    readTags(single);
    expect(single).toContain('No product is sold by two shops in one currency.');
    for (const html of [without, single]) expect(withoutScript(html)).not.toMatch(/NaN|undefined|Infinity/);
  });

  it('says what does not add up or still waits', async () => {
    const facts = await readWorld(kettleWorld());
    const [run] = facts.runs;
    const tell = (change: Partial<ReportFacts['runs'][number]>) => {
      const drawn = { changes: [], histogram: [], categories: [], shops: [], histories: [] };
      return renderReport({ ...facts, ...drawn, runs: run === undefined ? [] : [{ ...run, ...change }] }, HEAD);
    };
    expect(await tell({ adds_up: false })).toContain('Rows of 1 run do not add up');
    expect(await tell({ caught_up: false })).toContain('more changes were waiting');
    const unknown = await tell({ caught_up: false, listing_unknown: 12n, reason: 'no call was left' });
    expect(unknown).toContain('Up to 12 items may no longer be listed.');
    expect(unknown).toMatch(/could not establish whether up to 12 items are still listed<.*no call was left/);
    expect(await tell({ all_sampled: 0n })).toContain('No run compared a sample');
    expect(await tell({ all_mismatches: 3n })).toContain('3 items differed');
    expect(await tell({ all_sampled: 299n })).toContain('at most 1.0\u00a0% of what these runs published differed');
    expect(await tell({ overage: true, export_rows_landed: 9n })).toMatch(/9 landed<.*with overage</);
  });
});
