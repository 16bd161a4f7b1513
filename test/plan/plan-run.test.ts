import { describe, expect, test } from 'vitest';
import { EXPORTS, type Exports } from '../../src/journal/exports.js';
import { FEED } from '../../src/journal/feed.js';
import type { LowWatermark, PolledPart } from '../../src/journal/reads.js';
import type { Dataset } from '../../src/journal/run-entry.js';
import { refuseExport } from '../../src/plan/export-allowance.js';
import { planRun, type RunPlan } from '../../src/plan/plan-run.js';
import type { Shard } from '../../src/plan/plan-shards.js';
import type { RunFacts } from '../../src/plan/run-facts.js';
import { createSeeded, type Seeded } from '../seeded.js';
import { ACCOUNT, DAY_MS, daysAgo, createFacts as facts, NOW, UNLIMITED } from './facts.js';

const MARK: LowWatermark = {
  ...{ cursor: 90n, from: 80n, changedAt: '2026-11-20T07:00:00Z', at: NOW.toISOString() },
  ...{ items: 100n, counts: new Map() },
};
const FEED_DONE = { ...FEED.start, done: { cursor: 90n, complete: true, at: '' } };

/** The journal's exports: the planned shards, and the names of the complete ones. */
function exported(planned: readonly Shard[] | undefined, names: readonly string[] = []): Exports {
  const done = { attempt: 1, readAt: '', segments: [], end: 'done', announced: 1n, landed: 1n } as const;
  return { ...EXPORTS.start, planned: planned && [...planned], attempts: new Map(names.map((name) => [name, [done]])) };
}

const NO_CURSOR = { hasCursor: false, cursor: undefined };

describe('the feed starts', () => {
  test('from the cursor, or from the low watermark if there is no cursor and no history is wanted', () => {
    expect(planRun(facts()).feed).toEqual({ isRead: true, starts: [{ dataset: undefined, from: 70n }] });
    const none = { settings: { history: 'none' }, lake: NO_CURSOR, polledAt: 0 } as const;
    const { decision, lowWatermark, feed } = planRun(facts(none));
    expect([decision.mode, lowWatermark?.feed, feed.starts[0]?.from]).toEqual(['poll', 'new', undefined]);
    expect(planRun(facts({ ...none, landed: { watermark: MARK } })).feed.starts).toMatchObject([{ from: 80n }]);
    expect(planRun(facts({ lake: NO_CURSOR, polledAt: 0 })).feed.starts).toMatchObject([{ from: 0n }]);
  });

  test('from the start of the history for a new dataset, and from the cursor for the others', () => {
    const lists = { settings: { selection: [11n, 26n] }, lake: { selection: [11n] } };
    const froms = (plan: RunPlan) => plan.feed.starts.map(({ from }) => from);
    expect(froms(planRun(facts(lists)))).toEqual([70n, 0n]);
    const none = facts({ ...lists, settings: { selection: [11n, 26n], history: 'none' } });
    expect(froms(planRun(none))).toEqual([70n, undefined]);
    expect(froms(planRun({ ...none, landed: { ...none.landed, watermark: { ...MARK, from: undefined } } }))).toEqual([
      70n,
      90n,
    ]);
  });
});

describe('the decision of an earlier attempt', () => {
  const choice = { mode: 'feed', reason: 'the feed continues from the cursor' } as const;
  const decision = { ...choice, isOfThisTry: false };
  const decidedNow = { ...choice, isOfThisTry: true };

  test('is kept, but made again if the feed is lost, outlasted or refuses the cursor', () => {
    expect(planRun(facts({ landed: { decision } }))).toMatchObject({ decision: choice, isDecisionNew: false });
    expect(planRun(facts({ landed: { decision }, account: { hasFeed: false }, polledAt: 0 }))).toMatchObject({
      decision: { mode: 'poll' },
      isDecisionNew: true,
    });
    const stoodStill = { decision, triedAt: { last: undefined, before: daysAgo(31).toISOString() } };
    const lake = { caughtUpAt: daysAgo(32) };
    expect(planRun(facts({ landed: stoodStill, lake }))).toMatchObject({ decision: { mode: 'snapshot' } });
    expect(planRun(facts({ landed: { ...stoodStill, feed: FEED_DONE }, lake }))).toMatchObject({ decision: choice });
    const refused = planRun(facts({ landed: { decision: decidedNow }, cursorRefused: 'too old' }));
    expect(refused).toMatchObject({ decision: { mode: 'snapshot', reason: expect.stringContaining('too old') } });
  });

  test("is kept within the same attempt, even if the account's plan has changed since", () => {
    const landed = { decision: decidedNow };
    expect(planRun(facts({ landed, account: { hasFeed: false } })).decision).toEqual(choice);
  });
});

describe('the copy', () => {
  test('contains all datasets if the run changed to a complete copy, even if the exports of a new dataset have landed', () => {
    const shard: Shard = { name: 'dataset-26-all', dataset: 26n, status: 'all', site: null, rows: 40n };
    const decision = { mode: 'snapshot', reason: '', isOfThisTry: true } as const;
    const landed = { decision, watermark: MARK, exports: exported([shard], [shard.name]) };
    const counts = new Map<Dataset, bigint>([[11n, 60n]]).set(26n, 40n);
    const { copy } = planRun(facts({ settings: { selection: [11n, 26n] }, landed, counts }));
    expect(copy?.shards?.map(({ name }) => name)).toEqual(['dataset-26-all', 'dataset-11-all']);
    expect(copy?.missing).toMatchObject([{ name: 'dataset-11-all', rows: 60n }]);
    expect([copy?.exportRows, copy?.settling?.datasets]).toEqual([60n, [11n, 26n]]);
  });

  test('continues page by page if a part was read completely that way, even if it was empty', () => {
    const round = { since: null, newest: null, pages: 0, rows: 0n };
    const polls = new Map([[undefined, { wholePages: 0, isWhole: true, round, isDone: true, files: [] }]]);
    const counts = new Map<Dataset, bigint>([[undefined, 0n]]);
    const landed = { watermark: MARK, polls };
    const { copy } = planRun(facts({ settings: { mode: 'snapshot' }, landed, counts }));
    expect(copy).toMatchObject({ choice: { route: 'pages' }, isChosen: true, shards: undefined });
  });

  test('says which counts it lacks', () => {
    const snapshot = facts({ settings: { mode: 'snapshot', splitAbove: 50n } });
    expect(planRun(snapshot).lacks).toBe('counts');
    const counted = { ...snapshot, counts: new Map<Dataset, bigint>([[undefined, 100n]]) };
    expect(planRun(counted)).toMatchObject({ lacks: 'listed', copy: { large: [undefined], shards: undefined } });
    const sites = [30n, 50n].map((items, place) => ({ id: BigInt(place), items }));
    const listed = { ...counted, listed: new Map([[undefined, { items: 80n, sites }]]) };
    expect(planRun(listed).copy?.missing.map(({ rows }) => rows)).toEqual([50n, 30n, 20n]);
    // For a copy page by page, the counts of the websites don't matter.
    const quota = { rule: 'exportRowsPerMonth', allowed: 10n, used: 0n, monthly: true };
    const paged = { ...counted, account: { ...ACCOUNT, allowance: { ...UNLIMITED, quota } } };
    expect(planRun(paged)).toMatchObject({ lacks: undefined, copy: { choice: { route: 'pages' }, large: [] } });
  });
});

/** Random facts, from any moment of a run. */
function drawFacts(random: Seeded): RunFacts {
  const is = () => random.fraction() < 0.5;
  const oneOf = <T>(values: readonly T[]) => values[random.integer(values.length)] as T;
  const bound = (rule: string, most: number) =>
    is()
      ? undefined
      : { rule, allowed: BigInt(random.integer(most)), used: BigInt(random.integer(most)), monthly: is() };
  const selection = oneOf(['all', [11n], [11n, 26n], [11n, 26n, 30n]] as const);
  const parts: Dataset[] = [undefined, 11n, 26n, 30n];
  const polled = (): PolledPart => ({
    wholePages: random.integer(3),
    isWhole: is(),
    round: { rows: 3n, pages: 1, since: oneOf([null, '2026-11-20T05:00:00Z']), newest: null },
    isDone: is(),
    files: [],
  });
  const site = (dataset: Dataset, place: number): Shard => {
    return { name: `${dataset}-${place}`, dataset, status: 'active', site: BigInt(place), rows: 20n };
  };
  const shards = is() ? undefined : parts.flatMap((dataset, place) => (is() ? site(dataset, place) : []));
  const hasItems = is();
  const decision = is() ? undefined : { mode: oneOf(['snapshot', 'feed', 'poll'] as const), reason: 'before' };
  return facts({
    settings: {
      mode: oneOf(['auto', 'snapshot', 'poll']),
      history: oneOf(['feed', 'none', 'items']),
      selection,
      reconcileEvery: oneOf([undefined, 7 * DAY_MS]),
      splitAbove: oneOf([10n, 1_000n]),
    },
    lake: {
      hasItems,
      ...(hasItems && is() ? {} : NO_CURSOR),
      selection: hasItems ? oneOf(['all', [11n]] as const) : undefined,
      copied: oneOf([[], [11n], [11n, 26n]]),
      seen: oneOf([[], [11n, 26n]]),
      caughtUpAt: oneOf([undefined, daysAgo(1), daysAgo(40)]),
      isDamaged: random.fraction() < 0.1,
    },
    account: {
      hasFeed: is(),
      historyDays: oneOf([null, 30]),
      allowance: {
        ...UNLIMITED,
        ...{ calls: bound('budget.calls', 120), rows: bound('budget.exportRows', 300) },
        quota: bound('exportRowsPerMonth', 300),
        bills: is(),
        blocks: oneOf([null, 0n, 1n]),
      },
      broken: is() ? [] : [{ name: 'all', runs: 3, rows: 9n, at: oneOf([NOW, daysAgo(9)]), reason: '' }],
    },
    landed: {
      decision: decision && { ...decision, isOfThisTry: is() },
      triedAt: { last: undefined, before: oneOf([undefined, daysAgo(1), daysAgo(40)])?.toISOString() },
      watermark: is() ? MARK : undefined,
      exports: exported(shards, shards?.map(({ name }) => name).filter(is)),
      polls: new Map(parts.filter(() => random.fraction() < 0.2).map((dataset) => [dataset, polled()])),
      feed: random.fraction() < 0.2 ? FEED_DONE : FEED.start,
    },
    ...(is() ? {} : { readable: [11n, 26n, 30n].map((id) => ({ id, items: 20n })) }),
    ...(is() ? {} : { counts: new Map(parts.map((dataset) => [dataset, BigInt(random.integer(60))])) }),
    ...(is() ? {} : { polledAt: 0 }),
    ...(decision?.mode === 'feed' && is() ? { cursorRefused: 'too old' } : {}),
  });
}

/** The facts of a later attempt, which finds the plan's decisions in the journal. */
function journal(before: RunFacts, { decision, copy }: RunPlan): RunFacts {
  const { landed } = before;
  const exports = { ...landed.exports, planned: copy?.shards ?? landed.exports.planned };
  return { ...before, landed: { ...landed, decision: { ...decision, isOfThisTry: true }, exports } };
}

test('for random facts, a plan keeps earlier decisions, copies each part once, and never exports more than allowed', () => {
  const random = createSeeded(20);
  const modes = new Set<string>();
  for (let n = 0; n < 1_500; n++) {
    const known = drawFacts(random);
    const plan = planRun(known);
    const { decision, copy, feed, lowWatermark } = plan;
    modes.add(`${decision.mode} ${copy?.choice.route} ${plan.lacks}`);
    expect(planRun(structuredClone(known))).toEqual(plan);
    const again = planRun(journal(known, plan));
    expect([again.decision, again.isDecisionNew, again.copy?.shards]).toEqual([decision, false, copy?.shards]);
    if (plan.isDecisionNew && decision.mode === 'feed') expect(known.account?.hasFeed).toBe(true);
    expect(lowWatermark === undefined).toBe(decision.mode === 'feed' && plan.copied.length === 0);
    expect(feed.starts.map(({ dataset }) => dataset)).toEqual(plan.parts);
    if (copy?.choice.route !== 'export') continue;
    expect(refuseExport(known.account?.allowance ?? UNLIMITED, copy.exportRows)).toBeUndefined();
    if (copy.shards === undefined) continue;
    expect(copy.missing.reduce((sum, { rows }) => sum + rows, 0n)).toBe(copy.exportRows);
    expect(new Set(copy.shards.map(({ name }) => name)).size).toBe(copy.shards.length);
    for (const dataset of plan.copied) expect(copy.shards.some((shard) => shard.dataset === dataset)).toBe(true);
  }
  expect(modes.size).toBeGreaterThan(15);
});
