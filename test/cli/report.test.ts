import { lstat, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { writeReport } from '../../src/cli/actions/write-report.js';
import { toJsonText } from '../../src/cli/json-text.js';
import { CREDIT, publishLake } from './lake-fixture.js';
import { act, openContext } from './open-context.js';

const lake = await publishLake();
const folder = path.join(path.dirname(lake), 'out');
await mkdir(folder);
afterAll(() => rm(path.dirname(lake), { recursive: true }));

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

describe('report', () => {
  it('writes a page of the published lake and says in a line what stands in it', async () => {
    const { page, stdout } = await run({});
    expect(stdout).toMatch(
      /report\.html \(\d+\.\d kB\): 4 listings, 0 of 0 checks passed, 1 spread, 3 shops, 1 price history, 1 credit\n$/,
    );
    expect(page).toContain('Kettle [31m red');
    expect(page).toContain(CREDIT);
    expect(page).toContain('<h1><bdi>prices</bdi></h1>');
    expect(page).not.toContain(path.dirname(lake));
    expect(await readdir(folder)).toEqual(['report.html']);
  });

  it('tells a scheduler where the page is and how the copy stands', async () => {
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

  it('shows the products that are asked for, in any form of a GTIN, and names those it does not know', async () => {
    const { page } = await run({ product: ['04006381333931'] });
    expect(page).toContain('1 product asked for by name');
    expect(page).toMatch(/<details class="product" id="p-1" open="">/u);
    await expect(run({ product: ['4006381333931', 'lamp-2'] })).rejects.toMatchObject({
      code: 'usage',
      message: '--product lamp-2: no listed offer with a price',
    });
    await expect(run({ product: ['4006381333931'], currency: 'PLN' })).rejects.toThrow(
      /^--currency PLN: the lake has no such currency$/,
    );
  });

  it('has room for 24 products', async () => {
    await expect(run({ product: Array<string>(25).fill('x') })).rejects.toThrow('--product is given 25 times');
  });
});

it('a price list is a section of the report: places, cheaper shops, those below the lowest allowed price, and what was not found', async () => {
  const list = path.join(folder, 'mine.csv');
  await writeFile(list, 'product,price,lowest\n4006381333931,18,12\n<script>x</script>,5,\n');
  const { page } = await run({ list });
  const [section = ''] = /<section id="watch".*?<\/section>/su.exec(page) ?? [];
  expect(page).toContain('<a href="#watch">Your prices</a>');
  expect(section).toContain(
    'Shops sell 1 of the 2 products in your list. They are cheaper than you for 1, and below your lowest allowed price for 1.',
  );
  expect(section).toMatch(/3 <small>of 4<\/small>/u);
  expect(section).toContain('&lt;script&gt;x&lt;/script&gt;');
  expect(section).not.toContain('<script>');
  expect(section).toContain('no listing of this product');
  expect((await readdir(folder)).sort()).toEqual(['mine.csv', 'report.html']);
  expect((await run({})).page).not.toContain('id="watch"');
  await rm(list);
});

describe('the file of a report', () => {
  it('is replaced by a newer report, also behind a symbolic link, and when it is empty', async () => {
    const target = path.join(folder, 'behind.html');
    const link = path.join(folder, 'link.html');
    await writeFile(target, '');
    await symlink(target, link);
    await run({ output: link });
    await run({ output: link });
    expect(await readFile(target, 'utf8')).toMatch(/^<!doctype html>/);
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
  });

  it('is left alone when it is anything else', async () => {
    const notes = path.join(folder, 'notes.html');
    await writeFile(notes, '<!doctype html>\n<p>mine</p>');
    const elsewhere = [path.join(folder, 'none', 'report.html'), path.join(notes, 'x.html')];
    for (const output of [notes, folder, '/dev/null', ...elsewhere]) {
      await expect(run({ output }), output).rejects.toMatchObject({ code: 'usage' });
    }
    expect(await readFile(notes, 'utf8')).toContain('mine');
  });

  it('is not touched by a run that is stopped', async () => {
    const output = path.join(folder, 'stopped.html');
    await expect(run({ output }, false, AbortSignal.abort(new Error('stopped')))).rejects.toThrow();
    expect(await readdir(folder)).not.toContain('stopped.html');
  });
});
