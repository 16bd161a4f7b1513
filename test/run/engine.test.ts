/** Runs whose bulk a cluster does, beside runs that do all here. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { landPipeline } from '../../src/run/land-pipeline.js';
import type { CheckResult } from '../../src/tables/table.js';
import { stubEngine } from '../workers/cluster.js';
import { landHardRows, readRows } from '../workers/hard-copy.js';
import { changeText, type Intercept, openWorld, testIo } from './world.js';

const world = await openWorld({ items: 400, sites: 5, pastDays: 4, checks: 'all' });
afterAll(() => world.close());
afterEach(() => world.renew());

const countTasks = (notes: string) => {
  const kinds = readFileSync(notes, 'utf8')
    .trim()
    .split('\n')
    .flatMap((line) => (JSON.parse(line) as { task?: string }).task ?? [])
    .map((task) => (JSON.parse(task) as { kind: string }).kind);
  return Object.fromEntries(
    [...new Set(kinds)].sort().map((kind) => [kind, kinds.filter((one) => one === kind).length]),
  );
};

const OWN_CHECKS = {
  expensive: 'SELECT item_id, price FROM items WHERE price > $most',
  broken: 'SELECT CAST(pipeline AS INTEGER) AS number FROM runs',
};

/** Checks of the user: one with a parameter, one that runs nowhere, and one that reads a file of this machine. */
function addChecks(): void {
  const folder = path.join(world.folder, 'checks');
  const list = path.join(world.folder, 'only-here', 'list.csv');
  for (const one of [folder, path.dirname(list)]) mkdirSync(one, { recursive: true });
  writeFileSync(list, 'currency\nEUR\n');
  const listed = `SELECT item_id, currency FROM items SEMI JOIN read_csv('${list}') USING (currency)`;
  for (const [name, text] of Object.entries({ ...OWN_CHECKS, listed })) {
    const parameter = text.includes('$most') ? '-- parameter: most DOUBLE default 100: highest price\n' : '';
    const head = `-- name: ${name}\n-- severity: warn\n-- description: Of the user.\n-- next: nothing\n${parameter}`;
    writeFileSync(path.join(folder, `${name}.sql`), head + text);
  }
  world.pipeline.checksFolder = folder;
}

const tellChecks = (checks: readonly CheckResult[]) =>
  checks.map(({ name, violations, sample }) => `${name} ${violations} ${sample}`);

describe('a first copy whose bulk a cluster does', () => {
  test.each(['ndjson', 'csv'] as const)(
    'has the rows and columns of one without, in %s with hard values',
    async (format) => {
      const landed = await landHardRows(world, format);
      addChecks();
      const { checks } = await world.sync();
      expect(checks.filter(({ violations }) => violations > 0n).length).toBeGreaterThan(3);
      const here = await readRows(world.lakePath);
      expect(here.rejects?.length).toBeGreaterThan(1);
      expect(here.offers?.length).toBeGreaterThan(100);
      expect(here.price_spread_daily?.length).toBeGreaterThan(20);
      world.renew(landed);
      const notes = path.join(world.folder, `${format}.notes`);
      addChecks();
      world.pipeline.engine = stubEngine('--once', '--play', 'hide', '--note', notes);
      const there = await world.sync();
      expect(tellChecks(there.checks)).toEqual(tellChecks(checks));
      expect(await readRows(world.lakePath)).toEqual(here);
      // Items and offers by product; items and history by item, and two parts of what offers cost.
      expect(countTasks(notes)).toMatchObject({
        ...{ part: 6, check: there.checks.length, slice: expect.any(Number), type: expect.any(Number) },
      });
    },
  );
});

/** A complete copy that lacks an item, and has another title of one. */
const alterCopy: Intercept = async (request, next) => {
  const answer = await next(request);
  if (!request.url.includes('/export')) return answer;
  const [first = '', ...others] = (await answer.text()).split('\n').filter((line) => line !== '');
  const lines = [first.replace('"title":"', '"title":"another '), ...others.slice(1)];
  const headers = new Headers(answer.headers);
  headers.set('x-export-rows', String(lines.length));
  return new Response(`${lines.join('\n')}\n`, { headers });
};

test('a complete copy is compared there with the lake as it is here', async () => {
  await world.sync();
  await world.sandbox.advance({ hours: 2, changes: 40 });
  world.pipeline.source.mode = 'snapshot';
  world.intercept = alterCopy;
  await landPipeline(world.pipeline, testIo);
  const landed = `${world.lakePath}-landed`;
  cpSync(world.lakePath, landed, { recursive: true });
  const { row } = await world.sync();
  expect(row).toMatchObject({ mode: 'snapshot', gone: 1n, differences: 1n });
  const here = await readRows(world.lakePath);
  world.renew(landed);
  world.pipeline.source.mode = 'snapshot';
  const notes = path.join(world.folder, 'again.notes');
  world.pipeline.engine = stubEngine('--once', '--note', notes);
  const { gone, differences, difference_columns } = (await world.sync()).row;
  expect({ gone, differences, difference_columns }).toEqual({
    ...{ gone: 1n, differences: 1n, difference_columns: row.difference_columns },
  });
  expect(await readRows(world.lakePath)).toEqual(here);
  // Two compare. Others find the items that change, and apply changes to these.
  expect(countTasks(notes).rows).toBeGreaterThan(4);
});

/** Lands changes of every kind behind a copy, and gives the folder of the lake. */
async function landChanges(intercept?: Intercept): Promise<string> {
  await world.sync();
  world.intercept = intercept;
  await world.sandbox.advance({ hours: 8, changes: 300 });
  await landPipeline(world.pipeline, testIo);
  const landed = `${world.lakePath}-landed`;
  cpSync(world.lakePath, landed, { recursive: true });
  return landed;
}

/** A website and a dataset have other names than when the lake was made. */
const rename = changeText(/./, (text) =>
  text
    .replaceAll('"Consumer electronics"', '"Electronics, and more"')
    .replaceAll('"Werkstatt Online"', '"Werkstatt Neu"'),
);

test('changes are applied there as they are here, to items of renamed websites and datasets too', async () => {
  const landed = await landChanges(rename);
  const { row } = await world.sync();
  // Some items are read whole: their changes say too little.
  expect(row.written).toBeGreaterThan(300n);
  const here = await readRows(world.lakePath);
  for (const name of ['"Electronics, and more"', '"Werkstatt Neu"'])
    expect(here.items?.filter((item) => item.includes(name)).length).toBeGreaterThan(40);
  world.renew(landed);
  world.intercept = rename;
  const notes = path.join(world.folder, 'changes.notes');
  world.pipeline.engine = stubEngine('--once', '--note', notes);
  expect((await world.sync()).row).toMatchObject({ written: row.written, stale_items: row.stale_items });
  expect(await readRows(world.lakePath)).toEqual(here);
  expect(countTasks(notes).rows).toBeGreaterThan(4);
});

test('a worker that leaves out an item which it was asked about is found out', async () => {
  const landed = await landChanges();
  world.renew(landed);
  world.pipeline.engine = stubEngine('--once', '--play', 'drop rows');
  await expect(world.sync()).rejects.toThrow(/task \(rows\) can't be right: it has \d+ rows, and the run counted \d+/);
});
