import { expect, onTestFinished, test } from 'vitest';
import type { World } from '../run/world.js';
import { openWorld, readItems, readTruth, type WorldOptions } from '../run/world.js';

/** Expects that a lake equals the service after a first copy and two syncs. */
async function expectCopy(options: WorldOptions, prepare: (world: World) => void = () => {}): Promise<void> {
  const world = await openWorld({ items: 100, sites: 3, pastDays: 6, ...options });
  onTestFinished(() => world.close());
  prepare(world);
  await world.sync();
  for (const changes of [40, 25]) {
    await world.sandbox.advance({ hours: 1, changes });
    await world.sync();
  }
  expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
}

test('a lake is exact if the service names changes differently and keeps lastChangedAt on removals', () =>
  expectCopy({
    readings: [
      ...['lastChangedAt=stays', 'changes.price=absent', 'changes.attributes=prefixed', 'changes.category=slug'],
      ...['timestamps=milliseconds', 'feed.oldCursor=410', 'export.headers=always', 'quotaHeaders=short'],
    ],
  }));

test('a lake is exact if the service’s CSV has a byte order mark, CRLF and semicolons, and some titles are missing', () =>
  expectCopy(
    {
      readings: [
        ...['csv.lines=crlf', 'csv.bom=yes', 'csv.lists=semicolon', 'feed.title=null', 'timestamps=seconds'],
        ...['changes.category=path', 'products.offers=all', 'calls.refused=always', 'unknownDataset=empty'],
      ],
    },
    ({ pipeline }) => {
      pipeline.source.export = 'csv';
    },
  ));

test('a lake is exact without the feed, even if removals keep lastChangedAt and changedSince omits them', () =>
  expectCopy({ readings: ['lastChangedAt=stays', 'recentOnFree=402'], limits: { changeFeed: false } }));

const LAGS = ['lists', 'exports', 'facets', 'products', 'items'].map((kind) => `lag.${kind}=120s`);

test.each([[LAGS], [['replicas=300s', 'changes.price=absent']]])(
  'a lake is exact once a lagging service shows what its feed reported: %j',
  async (readings) => {
    const world = await openWorld({ items: 60, sites: 3, pastDays: 6, readings });
    onTestFinished(() => world.close());
    await world.sync();
    await world.sandbox.advance({ hours: 0.01, changes: 25 });
    await world.sync();
    await world.sandbox.advance({ hours: 0.3, changes: 0 });
    await world.sync();
    expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
  },
);
