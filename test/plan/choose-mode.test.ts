import { describe, expect, test } from 'vitest';
import { planRun } from '../../src/plan/plan-run.js';
import { ACCOUNT, createFacts, DAY_MS, daysAgo, UNLIMITED } from './facts.js';

type Facts = NonNullable<Parameters<typeof createFacts>[0]>;

const chooseMode = (facts: Facts) => planRun(createFacts(facts)).decision;

/** Three items have had an unknown listing state for some hours; the last search for them was some hours ago. */
const lost = (since: number, looked: number | undefined) => {
  const lookedAt = looked === undefined ? undefined : daysAgo(looked / 24);
  return { unknownListing: { items: 3n, since: daysAgo(since / 24), lookedAt } };
};
const wanted = (mode: 'feed' | 'poll' | 'snapshot'): Facts => ({ settings: { mode } });

describe('a run', () => {
  test.each<[string, Facts, string, RegExp]>([
    [
      'makes a complete copy in an empty lake',
      { lake: { hasItems: false }, ...wanted('poll') },
      'snapshot',
      /has no items/,
    ],
    ['continues from the feed in a lake with a cursor', {}, 'feed', /from the cursor/],
    ['polls soon after listing states became unknown', { lake: lost(0.5, 0.1) }, 'poll', /unknown which of 3 items/],
    [
      'continues from the feed hours after listing states became unknown and were searched for',
      { lake: lost(20, 5) },
      'feed',
      /from the cursor/,
    ],
    [
      'polls a day after the last search for items of unknown listing state',
      { lake: lost(50, 23.99) },
      'poll',
      /unknown/,
    ],
    [
      'polls if items of unknown listing state were never searched for',
      { lake: lost(20, undefined) },
      'poll',
      /unknown/,
    ],
    [
      'makes a complete copy if one is requested, even with unknown listing states',
      { lake: lost(1, 1), ...wanted('snapshot') },
      'snapshot',
      /copy/,
    ],
    ['polls on a plan without the feed', { account: { hasFeed: false } }, 'poll', /no change feed/],
    ['polls if the plan has newly gained the feed', { lake: { hasCursor: false } }, 'poll', /no feed cursor/],
    ['makes a complete copy if one is requested', wanted('snapshot'), 'snapshot', /complete copy was requested/],
    ['polls if the pipeline file requests it', wanted('poll'), 'poll', /source\.mode is poll/],
    [
      'makes a complete copy if a comparison is due',
      { settings: { reconcileEvery: DAY_MS } },
      'snapshot',
      /comparison is due/,
    ],
    [
      "continues from the feed if a comparison isn't due yet",
      { settings: { reconcileEvery: 2 * DAY_MS } },
      'feed',
      /from the cursor$/,
    ],
    [
      'makes a complete copy with a cursor older than the history',
      { lake: { caughtUpAt: daysAgo(30.5) } },
      'snapshot',
      /30\.5 days ago .* back 30/,
    ],
    [
      'continues from the feed with a cursor that is just recent enough',
      { lake: { caughtUpAt: daysAgo(30) } },
      'feed',
      /from the cursor/,
    ],
    [
      'continues from the feed with an old cursor and unlimited history',
      { lake: { caughtUpAt: daysAgo(999) }, account: { historyDays: null } },
      'feed',
      /the cursor/,
    ],
  ])('%s', (_, differences, mode, reason) => {
    const choice = chooseMode(differences);
    expect(choice.mode).toBe(mode);
    expect(choice.reason).toMatch(reason);
  });

  test('with mode feed is refused on a plan without the feed', () => {
    expect(() => chooseMode({ ...wanted('feed'), account: { hasFeed: false } })).toThrow(
      /the "Pro" plan doesn't include the change feed/,
    );
  });
});

describe("if the budget doesn't allow a complete copy", () => {
  const bound = (rule: string, allowed: bigint) => ({ rule, allowed, used: 0n, monthly: true });
  const allowance = { ...UNLIMITED, rows: bound('budget.exportRows', 10n), calls: bound('budget.calls', 20n) };
  const account = { ...ACCOUNT, allowance };
  const refusal =
    'the export needs 100 rows, but only 10 of the 10 allowed by budget.exportRows are left; reading 1 page of /items would give';

  test('a due comparison waits, and the lake continues from the feed or a poll', () => {
    const due = { account, settings: { reconcileEvery: DAY_MS } };
    const reason = `the feed continues from the cursor; a complete comparison is due, but ${refusal}`;
    expect(chooseMode(due)).toEqual({ mode: 'feed', reason: expect.stringContaining(reason) });
    expect(chooseMode({ ...due, account: { ...account, hasFeed: false }, polledAt: 0 })).toMatchObject({
      mode: 'poll',
    });
  });

  test('a gap in the feed is closed by polling the items that changed since, which uses no export rows', () => {
    const choice = chooseMode({ account, lake: { caughtUpAt: daysAgo(40) } });
    expect(choice.mode).toBe('poll');
    expect(choice.reason).toMatch(/40\.0 days ago .*, and the export needs \d+ rows, but only 10 of/);
  });

  test("a first copy or a requested copy isn't replaced, so that the export itself is refused", () => {
    expect(chooseMode({ account, lake: { hasItems: false } }).mode).toBe('snapshot');
    expect(chooseMode({ account, ...wanted('snapshot') }).mode).toBe('snapshot');
  });
});
