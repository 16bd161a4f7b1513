import { beforeEach, describe, expect, test } from 'vitest';
import { at, change, fullItem, openModels, type Row } from './model-world.js';

const { bind, readTexts } = await openModels();

interface World {
  exported?: Row;
  /** The row of the lake; null: it has none. */
  lake?: Row | null;
  /** Changes that this run brought, and those of the runs before. */
  told?: Row[];
  history?: Row[];
  /** Changes that history held ahead of the cursor. */
  pending?: Row[];
  cursor?: bigint;
  stale?: boolean;
  withFeed?: boolean;
  added?: string[];
}

const other = (hour: number, row: Row = {}) => change({ item_id: 2, observed_at: at(hour), origin: 'feed', ...row });
const minute = (text: string) => `2026-11-20T${text}Z`;

/** Whether the item, which has another brand than in the lake, is one that no change tells of. */
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

describe('beside a feed, an item that differs is a mismatch', () => {
  test.each<[string, World, boolean]>([
    ['once the feed has come past the time of its change', { history: [other(7)] }, true],
    ['as a change of this run shows, too', { told: [other(7)] }, true],
    ['not by a change ahead of the cursor', { told: [other(7, { change_id: 300 })], cursor: 200n }, false],
    ['unless a change ahead of the cursor is of the item', { history: [other(7)], pending: [change({})] }, false],
    ['by the latest of all changes', { told: [other(7)], history: [other(5)] }, true],
    ['by the latest change of this run', { told: [other(7), other(5)] }, true],
    ['by the latest change of history', { history: [other(7), other(5)] }, true],
    ['by a change of this run at the cursor', { told: [other(7, { change_id: 200 })], cursor: 200n }, true],
    ['by a change of history at the cursor', { history: [other(7, { change_id: 200 })], cursor: 200n }, true],
    ['not by one that history has ahead', { history: [other(7, { change_id: 201 })], cursor: 200n }, false],
    ['not before: the feed may still bring it', { history: [other(6)] }, false],
    [
      'when the feed is past it by what it dates changes later',
      { history: [other(6, { observed_at: minute('06:02:00') })] },
      true,
    ],
    ['not a second before that', { history: [other(6, { observed_at: minute('06:01:59') })] }, false],
    ['not as rows of the feed alone count: a comparison is none', { history: [other(7, { origin: 'diff' })] }, false],
    ['not where nothing was ever told', {}, false],
    ['not where a change of this run tells of it', { told: [change({ observed_at: at(7) })] }, false],
    ['though a change without an item was told', { told: [other(7, { item_id: null })] }, true],
    ['not while it is stale: the feed has told what it differs in', { history: [other(7)], stale: true }, false],
    ['not before the feed has come past its removal', { exported: { removed_at: at(8) }, history: [other(7)] }, false],
    ['once it has', { exported: { removed_at: at(8) }, history: [other(9)] }, true],
  ])('%s', async (_name, world, expected) => {
    expect(await isMismatch(world)).toBe(expected);
  });

  test.each<[string, World, boolean]>([
    [
      'once the feed has come past when it was first seen',
      { exported: { first_seen_at: at(6) }, history: [other(7)] },
      true,
    ],
    ['not before', { exported: { first_seen_at: at(8) }, history: [other(7)] }, false],
    ['not when it comes with a dataset that is new', { history: [other(7)], added: ['b', 'x'] }, false],
    ['when another dataset is new', { history: [other(7)], added: ['x'] }, true],
    ['when it is in no dataset', { exported: { datasets: null }, history: [other(7)], added: ['x'] }, true],
  ])('that the lake lacks is one %s', async (_name, world, expected) => {
    expect(await isMismatch({ ...world, lake: null })).toBe(expected);
  });

  test('that the lake has is one whenever it was first seen, and whatever dataset is new', async () => {
    expect(await isMismatch({ exported: { first_seen_at: at(8) }, history: [other(7)] })).toBe(true);
    expect(await isMismatch({ history: [other(7)], added: ['b'] })).toBe(true);
  });
});

describe('without a feed, an item that differs is a mismatch', () => {
  beforeEach(async () => expect(await isMismatch({ withFeed: false })).toBe(true));

  test.each<[string, World, boolean]>([
    ['whatever was told of others', { told: [other(5)], history: [other(5)] }, true],
    ['not where a webhook told of it', { told: [change({ observed_at: at(6) })] }, false],
    [
      'not where it changed less than a minute behind that',
      { exported: { last_changed_at: minute('06:00:59') }, told: [change({})] },
      false,
    ],
    [
      'where it changed a minute behind that',
      { exported: { last_changed_at: minute('06:01:00') }, told: [change({})] },
      true,
    ],
    ['not while it is stale', { stale: true }, false],
  ])('%s', async (_name, world, expected) => {
    expect(await isMismatch({ ...world, withFeed: false })).toBe(expected);
  });

  test('by the last change that was told of it', async () => {
    const told = [change({ observed_at: at(4) }), change({ change_id: 102, observed_at: at(6) })];
    expect(await isMismatch({ withFeed: false, told })).toBe(false);
  });
});
