import { expect, onTestFinished, test } from 'vitest';
import { openWorld, readItems, readTruth } from '../pipeline/world.js';

/** A lake over a sandbox with these habits holds what the service holds, after a first copy and two syncs. */
async function expectCopy(readings: string[]): Promise<void> {
  const world = await openWorld({ items: 120, sites: 3, pastDays: 6, readings });
  onTestFinished(() => world.close());
  await world.sync();
  for (const changes of [40, 25]) {
    await world.sandbox.advance({ hours: 1, changes });
    await world.sync();
  }
  expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
}

test('a lake is exact whose service names changes otherwise and leaves lastChangedAt on removals', () =>
  expectCopy([
    ...['lastChangedAt=stays', 'changes.price=absent', 'changes.attributes=prefixed', 'changes.category=slug'],
    ...['timestamps=milliseconds', 'feed.oldCursor=410', 'export.headers=always', 'quotaHeaders=short'],
  ]));
