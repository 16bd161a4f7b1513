import { describe, expect, test } from 'vitest';
import { chooseMode, type ModeFacts } from '../../src/plan/choose-mode.js';

const NOW = new Date('2026-11-20T12:00:00Z');
const DAY_MS = 24 * 3600 * 1000;
const daysAgo = (days: number) => new Date(NOW.getTime() - days * DAY_MS);

/** Three items of which it is not known whether they are listed, since some hours; looked for some hours ago. */
const lost = (since: number, looked: number | undefined) => ({
  items: 3n,
  since: daysAgo(since / 24),
  lookedAt: looked === undefined ? undefined : daysAgo(looked / 24),
});

/** A lake that the feed kept until an hour ago, on a paid plan. */
function facts(differences: Partial<ModeFacts> = {}): ModeFacts {
  return {
    wanted: 'auto',
    hasItems: true,
    hasCursor: true,
    hasFeed: true,
    historyDays: 30,
    caughtUpAt: daysAgo(1 / 24),
    snapshotAt: daysAgo(1),
    reconcileEvery: undefined,
    unknownListing: undefined,
    copyRefusal: undefined,
    now: NOW,
    ...differences,
  };
}

describe('a run', () => {
  test.each<[string, Partial<ModeFacts>, string, RegExp]>([
    ['of an empty lake', { hasItems: false, wanted: 'poll' }, 'snapshot', /holds no items/],
    ['of a lake with a cursor', {}, 'feed', /from the cursor/],
    ['just behind one that lost sight of items', { unknownListing: lost(0.5, 0.1) }, 'poll', /of 3 items .* not known/],
    ['hours behind one that lost sight of items', { unknownListing: lost(20, 5) }, 'feed', /from the cursor/],
    ['a day behind the last that looked for them', { unknownListing: lost(50, 23.99) }, 'poll', /not known/],
    ['long behind one that lost sight of items', { unknownListing: lost(20, undefined) }, 'poll', /not known/],
    ['asked for a copy where items are lost', { unknownListing: lost(1, 1), wanted: 'snapshot' }, 'snapshot', /copy/],
    ['on a plan without the feed', { hasFeed: false }, 'poll', /no change feed/],
    ['on a plan that has got the feed since', { hasCursor: false }, 'poll', /no cursor/],
    ['that is asked for a copy', { wanted: 'snapshot' }, 'snapshot', /complete copy was requested/],
    ['that is to poll', { wanted: 'poll' }, 'poll', /source\.mode is poll/],
    ['with a comparison due', { reconcileEvery: DAY_MS }, 'snapshot', /comparison is due/],
    ['with a comparison not yet due', { reconcileEvery: 2 * DAY_MS }, 'feed', /from the cursor$/],
    ['whose cursor is older than the history', { caughtUpAt: daysAgo(30.5) }, 'snapshot', /30\.5 days ago .* back 30/],
    ['whose cursor is just young enough', { caughtUpAt: daysAgo(30) }, 'feed', /from the cursor/],
    ['with an old cursor and endless history', { caughtUpAt: daysAgo(999), historyDays: null }, 'feed', /the cursor/],
  ])('%s', (_, differences, mode, reason) => {
    const choice = chooseMode(facts(differences));
    expect(choice.mode).toBe(mode);
    expect(choice.reason).toMatch(reason);
  });

  test('that must go by the feed is refused on a plan without it', () => {
    expect(() => chooseMode(facts({ wanted: 'feed', hasFeed: false }))).toThrow(/the plan has no change feed/);
  });
});

describe('where the budget allows no complete copy', () => {
  const copyRefusal = 'budget.exportRows leaves 10';

  test('a comparison that is due waits, and the lake goes on', () => {
    const due = { copyRefusal, reconcileEvery: DAY_MS };
    const reason = `the feed continues from the cursor; a complete comparison is due, but ${copyRefusal}`;
    expect(chooseMode(facts(due))).toEqual({ mode: 'feed', reason });
    expect(chooseMode(facts({ ...due, hasFeed: false }))).toMatchObject({ mode: 'poll' });
  });

  test('a gap in the feed is closed by the items that changed since, which take no export row', () => {
    const choice = chooseMode(facts({ copyRefusal, caughtUpAt: daysAgo(40) }));
    expect(choice.mode).toBe('poll');
    expect(choice.reason).toMatch(/40\.0 days ago .*, and budget\.exportRows leaves 10$/);
  });

  test('a first copy and one that is asked for stay what they are: the export itself is refused', () => {
    expect(chooseMode(facts({ copyRefusal, hasItems: false })).mode).toBe('snapshot');
    expect(chooseMode(facts({ copyRefusal, wanted: 'snapshot' })).mode).toBe('snapshot');
  });
});
