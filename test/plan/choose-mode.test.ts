import { describe, expect, test } from 'vitest';
import { planRun } from '../../src/plan/plan-run.js';
import { ACCOUNT, createFacts, DAY_MS, daysAgo, UNLIMITED } from './facts.js';

type Facts = NonNullable<Parameters<typeof createFacts>[0]>;

const chooseMode = (facts: Facts) => planRun(createFacts(facts)).decision;

/** Three items of which it is not known whether they are listed, since some hours; looked for some hours ago. */
const lost = (since: number, looked: number | undefined) => {
  const lookedAt = looked === undefined ? undefined : daysAgo(looked / 24);
  return { unknownListing: { items: 3n, since: daysAgo(since / 24), lookedAt } };
};
const wanted = (mode: 'feed' | 'poll' | 'snapshot'): Facts => ({ settings: { mode } });

describe('a run', () => {
  test.each<[string, Facts, string, RegExp]>([
    ['of an empty lake', { lake: { hasItems: false }, ...wanted('poll') }, 'snapshot', /has no items/],
    ['of a lake with a cursor', {}, 'feed', /from the cursor/],
    ['just behind one that lost sight of items', { lake: lost(0.5, 0.1) }, 'poll', /unknown which of 3 items/],
    ['hours behind one that lost sight of items', { lake: lost(20, 5) }, 'feed', /from the cursor/],
    ['a day behind the last that looked for them', { lake: lost(50, 23.99) }, 'poll', /unknown/],
    ['long behind one that lost sight of items', { lake: lost(20, undefined) }, 'poll', /unknown/],
    ['asked for a copy where items are lost', { lake: lost(1, 1), ...wanted('snapshot') }, 'snapshot', /copy/],
    ['on a plan without the feed', { account: { hasFeed: false } }, 'poll', /no change feed/],
    ['on a plan that has got the feed since', { lake: { hasCursor: false } }, 'poll', /no feed cursor/],
    ['that is asked for a copy', wanted('snapshot'), 'snapshot', /complete copy was requested/],
    ['that is to poll', wanted('poll'), 'poll', /source\.mode is poll/],
    ['with a comparison due', { settings: { reconcileEvery: DAY_MS } }, 'snapshot', /comparison is due/],
    ['with a comparison not yet due', { settings: { reconcileEvery: 2 * DAY_MS } }, 'feed', /from the cursor$/],
    [
      'whose cursor is older than the history',
      { lake: { caughtUpAt: daysAgo(30.5) } },
      'snapshot',
      /30\.5 days ago .* back 30/,
    ],
    ['whose cursor is just young enough', { lake: { caughtUpAt: daysAgo(30) } }, 'feed', /from the cursor/],
    [
      'with an old cursor and endless history',
      { lake: { caughtUpAt: daysAgo(999) }, account: { historyDays: null } },
      'feed',
      /the cursor/,
    ],
  ])('%s', (_, differences, mode, reason) => {
    const choice = chooseMode(differences);
    expect(choice.mode).toBe(mode);
    expect(choice.reason).toMatch(reason);
  });

  test('that must go by the feed is refused on a plan without it', () => {
    expect(() => chooseMode({ ...wanted('feed'), account: { hasFeed: false } })).toThrow(
      /the "Pro" plan doesn't include the change feed/,
    );
  });
});

describe('where the budget allows no complete copy', () => {
  const bound = (rule: string, allowed: bigint) => ({ rule, allowed, used: 0n, monthly: true });
  const allowance = { ...UNLIMITED, rows: bound('budget.exportRows', 10n), calls: bound('budget.calls', 20n) };
  const account = { ...ACCOUNT, allowance };
  const refusal =
    'the export needs 100 rows, but only 10 of the 10 allowed by budget.exportRows are left; reading 1 page of /items would give';

  test('a comparison that is due waits, and the lake goes on', () => {
    const due = { account, settings: { reconcileEvery: DAY_MS } };
    const reason = `the feed continues from the cursor; a complete comparison is due, but ${refusal}`;
    expect(chooseMode(due)).toEqual({ mode: 'feed', reason: expect.stringContaining(reason) });
    expect(chooseMode({ ...due, account: { ...account, hasFeed: false }, polledAt: 0 })).toMatchObject({
      mode: 'poll',
    });
  });

  test('a gap in the feed is closed by the items that changed since, which take no export row', () => {
    const choice = chooseMode({ account, lake: { caughtUpAt: daysAgo(40) } });
    expect(choice.mode).toBe('poll');
    expect(choice.reason).toMatch(/40\.0 days ago .*, and the export needs \d+ rows, but only 10 of/);
  });

  test('a first copy and one that is asked for stay what they are: the export itself is refused', () => {
    expect(chooseMode({ account, lake: { hasItems: false } }).mode).toBe('snapshot');
    expect(chooseMode({ account, ...wanted('snapshot') }).mode).toBe('snapshot');
  });
});
