/** Runs whose bulk a cluster does, beside runs that do all here. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { stubEngine } from '../workers/cluster.js';
import { landHardRows, readRows } from '../workers/hard-copy.js';
import { openWorld } from './world.js';

const world = await openWorld({ items: 400, sites: 5, pastDays: 4 });
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

describe('a first copy whose bulk a cluster does', () => {
  test.each(['ndjson', 'csv'] as const)(
    'has the rows and columns of one without, in %s with hard values',
    async (format) => {
      const landed = await landHardRows(world, format);
      await world.sync();
      const here = await readRows(world.lakePath);
      expect(here.rejects?.length).toBeGreaterThan(1);
      expect(here.offers?.length).toBeGreaterThan(100);
      expect(here.price_spread_daily?.length).toBeGreaterThan(20);
      world.renew(landed);
      const notes = path.join(world.folder, `${format}.notes`);
      world.pipeline.engine = stubEngine('--note', notes);
      await world.sync();
      expect(await readRows(world.lakePath)).toEqual(here);
      // Items and offers by product; items and history by item, and two parts of what offers cost.
      expect(countTasks(notes)).toMatchObject({ part: 6, slice: expect.any(Number), type: expect.any(Number) });
    },
  );
});
