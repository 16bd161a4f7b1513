/** Runs whose bulk a cluster does, beside runs that do all here. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import type { CheckResult } from '../../src/tables/table.js';
import { stubEngine } from '../workers/cluster.js';
import { landHardRows, readRows } from '../workers/hard-copy.js';
import { openWorld } from './world.js';

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

/** Checks of the user: one with a parameter, and one that runs nowhere. */
function addChecks(): void {
  const folder = path.join(world.folder, 'checks');
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(OWN_CHECKS)) {
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
      world.pipeline.engine = stubEngine('--once', '--note', notes);
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
