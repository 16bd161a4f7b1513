import { beforeEach, describe, expect, test } from 'vitest';
import { at, change, fullItem, openModels, type Row } from './model-world.js';

const { bind, readTexts } = await openModels();

interface World {
  exported?: Row;
  /** The row in the lake; null if the lake lacks the item. */
  lake?: Row | null;
  /** Changes from this run, and from earlier runs. */
  told?: Row[];
  history?: Row[];
  /** Changes that were in history ahead of the cursor. */
  pending?: Row[];
  cursor?: bigint;
  stale?: boolean;
  withFeed?: boolean;
  added?: string[];
}

const other = (hour: number, row: Row = {}) => change({ item_id: 2, observed_at: at(hour), origin: 'feed', ...row });
const minute = (text: string) => `2026-11-20T${text}Z`;

/** True if the item, whose brand differs from the lake, counts as a difference that no change explains. */
async function isMismatch(world: World): Promise<boolean> {
  const { exported, lake, told: new_changes = [], pending: pending_changes = [], history = [] } = world;
  const { cursor = 9223372036854775807n, stale, withFeed = true, added = [] } = world;
  const exported_items = [fullItem({ brand: 'B', last_changed_at: at(6), ...exported })];
  const items = lake === null ? [] : [fullItem(lake ?? {})];
  const different_items = bind('compare', { exported_items, items }, SKEW);
  const stale_items = stale ? [{ item_id: 1 }] : [];
  const tables = { different_items, exported_items, history, new_changes, pending_changes, stale_items };
  const values = { ...SKEW, added_datasets: added, feed_cursor: cursor, with_feed: withFeed };
  return (await readTexts(bind('mismatches', tables, values))).length > 0;
}
const SKEW = { feed_skew: 120_000_000n };

describe('with a feed, whether an item that differs is a mismatch', () => {
  test.each<[string, World, boolean]>([
    ['yes, if a change in history is later than its change', { history: [other(7)] }, true],
    ['yes, if a change in this run is later than its change', { told: [other(7)] }, true],
    [
      'no, if only a change ahead of the cursor is later',
      { told: [other(7, { change_id: 300 })], cursor: 200n },
      false,
    ],
    ['no, if a change ahead of the cursor concerns the item', { history: [other(7)], pending: [change({})] }, false],
    ['yes, if the latest of all changes is later', { told: [other(7)], history: [other(5)] }, true],
    ['yes, if the latest change in this run is later', { told: [other(7), other(5)] }, true],
    ['yes, if the latest change in history is later', { history: [other(7), other(5)] }, true],
    [
      'yes, if a change in this run at the cursor is later',
      { told: [other(7, { change_id: 200 })], cursor: 200n },
      true,
    ],
    [
      'yes, if a change in history at the cursor is later',
      { history: [other(7, { change_id: 200 })], cursor: 200n },
      true,
    ],
    [
      'no, if only a change in history ahead of the cursor is later',
      { history: [other(7, { change_id: 201 })], cursor: 200n },
      false,
    ],
    ['no, if the feed may still report its change', { history: [other(6)] }, false],
    [
      "yes, if the feed has passed its change by the feed's delay",
      { history: [other(6, { observed_at: minute('06:02:00') })] },
      true,
    ],
    [
      'no, if the feed has passed its change by less than the delay',
      { history: [other(6, { observed_at: minute('06:01:59') })] },
      false,
    ],
    ['no, if only an event with origin diff is later', { history: [other(7, { origin: 'diff' })] }, false],
    ['no, if there are no changes at all', {}, false],
    ['no, if a change in this run concerns the item', { told: [change({ observed_at: at(7) })] }, false],
    ['yes, even if the later change has no item', { told: [other(7, { item_id: null })] }, true],
    [
      'no, if it is in stale_items, because the feed has reported the difference',
      { history: [other(7)], stale: true },
      false,
    ],
    ["no, if the feed hasn't passed its removal", { exported: { removed_at: at(8) }, history: [other(7)] }, false],
    ['yes, if the feed has passed its removal', { exported: { removed_at: at(8) }, history: [other(9)] }, true],
  ])('%s', async (_name, world, expected) => {
    expect(await isMismatch(world)).toBe(expected);
  });

  test.each<[string, World, boolean]>([
    [
      'yes, if the feed has passed its first_seen_at',
      { exported: { first_seen_at: at(6) }, history: [other(7)] },
      true,
    ],
    [
      "no, if the feed hasn't passed its first_seen_at",
      { exported: { first_seen_at: at(8) }, history: [other(7)] },
      false,
    ],
    ['no, if it is in a newly added dataset', { history: [other(7)], added: ['b', 'x'] }, false],
    ['yes, if only another dataset was added', { history: [other(7)], added: ['x'] }, true],
    ['yes, if it is in no dataset', { exported: { datasets: null }, history: [other(7)], added: ['x'] }, true],
  ])('if the lake lacks it: %s', async (_name, world, expected) => {
    expect(await isMismatch({ ...world, lake: null })).toBe(expected);
  });

  test('if the lake contains it: yes, regardless of first_seen_at and of added datasets', async () => {
    expect(await isMismatch({ exported: { first_seen_at: at(8) }, history: [other(7)] })).toBe(true);
    expect(await isMismatch({ history: [other(7)], added: ['b'] })).toBe(true);
  });
});

describe('without a feed, whether an item that differs is a mismatch', () => {
  beforeEach(async () => expect(await isMismatch({ withFeed: false })).toBe(true));

  test.each<[string, World, boolean]>([
    ['yes, regardless of changes of other items', { told: [other(5)], history: [other(5)] }, true],
    ['no, if a webhook reported its change', { told: [change({ observed_at: at(6) })] }, false],
    [
      'no, if it changed less than a minute after the reported change',
      { exported: { last_changed_at: minute('06:00:59') }, told: [change({})] },
      false,
    ],
    [
      'yes, if it changed a minute after the reported change',
      { exported: { last_changed_at: minute('06:01:00') }, told: [change({})] },
      true,
    ],
    ['no, if it is in stale_items', { stale: true }, false],
  ])('%s', async (_name, world, expected) => {
    expect(await isMismatch({ ...world, withFeed: false })).toBe(expected);
  });

  test('the last reported change of the item is the one that counts', async () => {
    const told = [change({ observed_at: at(4) }), change({ change_id: 102, observed_at: at(6) })];
    expect(await isMismatch({ withFeed: false, told })).toBe(false);
  });
});
