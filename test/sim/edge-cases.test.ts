import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { addItem, events } from './events.js';
import type { Habits } from './habits.js';
import { readLakeRows } from './lake-rows.js';
import { step } from './life.js';
import { openSimulation, type Simulation } from './simulation.js';
import type { Item } from './world.js';

/** A small world at rest and its first copy, closed after the test. */
async function openCopied(habits: Partial<Habits>, items = 30): Promise<Simulation> {
  const simulation = await copyWorld(habits, items);
  onTestFinished(() => simulation.close());
  return simulation;
}

/** Habits that these cases have beside their own. */
const BESIDE: Partial<Habits> = { ids: 'beyond 2^53', unknownFields: true, numbers: 'exponent', escaped: true };

async function copyWorld(habits: Partial<Habits> = {}, items = 30): Promise<Simulation> {
  const simulation = await openSimulation({ seed: 7, items, habits: { ...BESIDE, ...habits } });
  await simulation.expectCopy(await simulation.sync(), items > 0);
  return simulation;
}

/** One such world, to which one thing happens after the other: whatever came before, the copy is exact. */
let copied: Simulation;
beforeAll(async () => {
  copied = await copyWorld();
});
afterAll(() => copied.close());

function listed({ world }: Simulation): Item[] {
  return world.visibleItems().filter((item) => item.removedAt === null);
}

/** Lets the changes come into the feed, runs, and compares. */
async function expectCopyAfter({ world, sync, expectCopy }: Simulation): Promise<void> {
  world.settle();
  await expectCopy(await sync(), true);
}

describe('the copy stays exact', () => {
  test('when an item without a title, which the feed calls by an empty one, changes in price', async () => {
    for (const item of listed(copied)) {
      if (item.title === null) events.changePrice(copied.world, item);
    }
    await expectCopyAfter(copied);
  });

  test('when a license text is replaced: what held before stays, with its time', async () => {
    const item = listed(copied).find(({ siteId }) => copied.world.site(siteId).attribution !== null) as Item;
    copied.world.site(item.siteId).attribution = 'CC0';
    events.changePrice(copied.world, item);
    await expectCopyAfter(copied);
    const { sites } = await readLakeRows(copied.lakePath);
    expect(sites.filter((row) => row.site_id === String(item.siteId))).toHaveLength(2);
  });

  test('when an account begins without items and changes', async () => {
    const copied = await openCopied({}, 0);
    for (let n = 0; n < 30; n++) step(copied.world);
    await expectCopyAfter(copied);
  });

  test('with characters that end a string in other languages', async () => {
    const [item] = listed(copied) as [Item];
    item.title = 'a\u0000b';
    events.changeStock(copied.world, item);
    await expectCopyAfter(copied);
  });
});

test.each(['empty', 'spaces'] as const)(
  'an export with blank lines (%s) is taken once: they are no rows',
  async (blankLines) => {
    const { service, world } = await openCopied({ blankLines, lineEnd: '\r\n' });
    expect(service.requests.filter((request) => request.startsWith('/export'))).toHaveLength(1);
    expect(service.used.rows).toBe(world.visibleItems().length);
  },
);

test('a line of an export that begins with a character of four bytes is rejected, and the run goes on', async () => {
  const change = (path: string, body: Buffer) => (path === '/export' ? Buffer.concat([Buffer.from('🛒'), body]) : body);
  const simulation = await openSimulation({ seed: 7, items: 30, change, habits: { format: 'ndjson' } });
  onTestFinished(() => simulation.close());
  expect(await simulation.sync()).toMatchObject({ published: true, row: { rejected: 1n } });
});

test('a text with half a character is rejected with its row, and the run goes on', async () => {
  const added = addItem(copied.world);
  added.title = 'half \ud83d';
  copied.world.settle();
  const report = await copied.sync();
  // As the feed told it, and as the item was read then.
  expect(report).toMatchObject({ published: true, row: { rejected: 2n, caught_up: false } });
  const { items } = await readLakeRows(copied.lakePath);
  expect(items.map((row) => row.item_id)).not.toContain(String(added.id));
});
