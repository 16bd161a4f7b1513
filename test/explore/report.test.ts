import { createHash } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Script } from 'node:vm';
import { afterAll, describe, expect, it } from 'vitest';
import { writeReport } from '../../src/cli/actions/write-report.js';
import { toJsonText } from '../../src/cli/json-text.js';
import { CREDIT, publishLake } from '../cli/lake-fixture.js';
import { act, openContext } from '../cli/open-context.js';

const lake = await publishLake();
const folder = path.join(path.dirname(lake), 'out');
await mkdir(folder);
afterAll(() => rm(path.dirname(lake), { recursive: true }));

const contents = (page: string, tag: string) =>
  [...page.matchAll(new RegExp(`<${tag}\\b[^>]*>(.*?)</${tag}>`, 'gsu'))].map(([, text = '']) => text);
const readPart = (page: string, id: string) =>
  new RegExp(`<article id="${id}".*?</article>`, 'su').exec(page)?.[0] ?? '';

async function run(
  request: Partial<Parameters<typeof writeReport>[0]>,
  json = false,
  signal = new AbortController().signal,
) {
  const file = path.join(folder, 'report.html');
  const context = { ...openContext(json), signal };
  const { report, text } = await act(writeReport, { lake, output: file, top: 50, ...request }, context);
  return { report, stdout: text, page: await readFile(file, 'utf8') };
}

/** A report without options. */
const usual = await run({});
const filesOfUsual = await readdir(folder);

describe('report', () => {
  it('writes a page of the published lake and a line with its figures', () => {
    const { page, stdout } = usual;
    expect(stdout).toMatch(
      /report\.html \(\d+\.\d kB\): 4 listings, 0 of 0 checks passed, 1 spread, 3 shops, 1 product\n$/,
    );
    expect(page).toContain('Kettle [31m red');
    expect(page).toContain(CREDIT);
    expect(page).toContain('<h1 class="brand"><bdi>prices</bdi></h1>');
    expect(page).not.toContain(path.dirname(lake));
    expect(filesOfUsual).toEqual(['report.html']);
  });

  it('with --json prints where the page is and the state of the copy', async () => {
    const { report, stdout } = await run({}, true);
    expect(stdout).toBe('');
    expect(JSON.parse(toJsonText(report))).toMatchObject({
      output: path.join(folder, 'report.html'),
      listed: 4,
      caughtUp: true,
      addsUp: true,
      failedChecks: [],
      spreads: 1,
      medianSpreadPct: expect.closeTo(99.998),
      attribution: [CREDIT],
    });
  });

  it('shows the requested products by any form of a GTIN, and refuses unknown ones', async () => {
    const { page } = await run({ product: ['04006381333931'] });
    expect(page.match(/<details class="product">/gu)).toHaveLength(1);
    await expect(run({ product: ['4006381333931', 'lamp-2'] })).rejects.toMatchObject({
      code: 'usage',
      message: '--product lamp-2 has no listed offer with a price',
    });
    await expect(run({ product: ['4006381333931'], currency: 'PLN' })).rejects.toThrow(
      /^--currency PLN: the lake has no such currency$/,
    );
  });

  it('accepts at most 24 products', async () => {
    await expect(run({ product: Array<string>(25).fill('x') })).rejects.toThrow('--product is given 25 times');
  });
});

it('a price list becomes a page of the report, with positions, cheaper shops, and lines without a product', async () => {
  const list = path.join(folder, 'mine.csv');
  await writeFile(list, 'product,price,lowest\n4006381333931,18,12\n<script>x</script>,5,\n');
  const { page } = await run({ list });
  const part = readPart(page, 'list');
  expect(page).toContain('<a href="#list"><bdi>My list</bdi></a>');
  expect(part).toMatch(/data-value="3" data-label="Place">3 of \d<\/td>/u);
  expect(part).toContain('&lt;script&gt;x&lt;/script&gt;');
  expect(part).not.toContain('<script>');
  expect(part).toContain('no listing of this product');
  expect((await readdir(folder)).sort()).toEqual(['mine.csv', 'report.html']);
  expect(usual.page).not.toContain('id="list"');
  await rm(list);
});

describe('the document', () => {
  it('allows its own script and style by their hashes, and loads nothing', () => {
    const { page } = usual;
    const policy = (/http-equiv="Content-Security-Policy" content="([^"]*)"/u.exec(page)?.[1] ?? '').replaceAll(
      '&#39;',
      "'",
    );
    const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    const [script, ...scripts] = contents(page, 'script');
    const [style, ...styles] = contents(page, 'style');
    expect([scripts, styles]).toEqual([[], []]);
    expect(policy).toContain(`script-src ${hash(script ?? '')};`);
    expect(policy).toContain(`style-src ${hash(style ?? '')};`);
    expect(policy).toMatch(/^default-src 'none'; /u);
    new Script(script ?? '');
    expect(page).not.toMatch(/<(?:iframe|object|embed|img|image|base|form)\b| (?:on\w+|style|src|srcset|action)=/u);
  });

  it('has no links that need a server, and each internal link has a target', () => {
    const { page } = usual;
    const links = [...page.matchAll(/<a href="([^"]*)"/gu)].map(([, address = '']) => address);
    expect(links.filter((address) => address.startsWith('/'))).toEqual([]);
    const ids = new Set([...page.matchAll(/ id="([^"]*)"/gu)].map(([, id]) => `#${id}`));
    expect(links.filter((address) => address.startsWith('#') && !ids.has(address))).toEqual([]);
    expect(links).toContain('#product-1');
    expect(page.replace(/<script>.*<\/script>/su, '')).not.toMatch(
      /<!--(?:served|written|end)-->|class="pager"|NaN|undefined/u,
    );
  });

  it('closes every element in order', () => {
    const { page } = usual;
    const open: string[] = [];
    const isVoid = new Set(['meta', 'link', 'input', 'br', 'path', 'line', 'rect', 'circle']);
    for (const [whole, closes, tag = ''] of page
      .replaceAll(/<(script|style)>.*?<\/\1>/gsu, '')
      .replace('<!doctype html>', '')
      .matchAll(/<(\/?)([a-z0-9]+)(?:\s+[\w:-]+(?:="[^"<>]*")?)*\s*\/?>/giu)) {
      if (closes === '/') expect(open.pop(), whole).toBe(tag);
      else if (!isVoid.has(tag) && !whole.endsWith('/>')) open.push(tag);
    }
    expect(open).toEqual([]);
  });
});

describe('the file of a report', () => {
  it('is replaced by a newer report, also behind a symbolic link, and if it is empty', async () => {
    const target = path.join(folder, 'behind.html');
    const link = path.join(folder, 'link.html');
    await writeFile(target, '');
    await symlink(target, link);
    await run({ output: link });
    await run({ output: link });
    expect(await readFile(target, 'utf8')).toMatch(/^<!doctype html>/);
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
  });

  it('is not overwritten if it is anything else', async () => {
    const notes = path.join(folder, 'notes.html');
    await writeFile(notes, '<!doctype html>\n<p>mine</p>');
    const elsewhere = [path.join(folder, 'none', 'report.html'), path.join(notes, 'x.html')];
    for (const output of [notes, folder, '/dev/null', ...elsewhere]) {
      await expect(run({ output }), output).rejects.toMatchObject({ code: 'usage' });
    }
    expect(await readFile(notes, 'utf8')).toContain('mine');
  });

  it('is not changed by a run that is stopped', async () => {
    const output = path.join(folder, 'stopped.html');
    await expect(run({ output }, false, AbortSignal.abort(new Error('stopped')))).rejects.toThrow();
    expect(await readdir(folder)).not.toContain('stopped.html');
  });
});
