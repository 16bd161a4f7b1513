import { setTimeout as wait } from 'node:timers/promises';
import { FEED_DELAY_MS, type SimulatedClock } from '../clock.js';
import { MAX_LAG } from '../readings/registry.js';
import { INSERT_NEW_PENDING } from './generate-sql.js';
import { FORGET_PAST, KEEP_SCRAPED_PAST, KEEP_STEP_PAST } from './past-sql.js';
import { publishChanges } from './publish-changes.js';
import { chooseEnough, hasDueScrape, type Scrape, storeScrapes } from './scrapes.js';
import { APPLY_SCRAPES, APPLY_STEP, CREATE_STEP, INSERT_STEP_PENDING, PICK_STEP_CHANGES } from './step-sql.js';
import type { World } from './world.js';
import type { WorldSession } from './world-database.js';

export interface AdvanceOptions {
  hours: number;
  /** The number of changes. Defaults to a number that depends on the number of items and hours. */
  changes?: number | undefined;
}

export interface AdvanceCounts {
  changes: number;
  new: number;
  changed: number;
  removed: number;
  relisted: number;
  now: string;
}

const HOUR_MS = 3_600_000;
const CHANGES_PER_ITEM_HOUR = 0.008;
/** The time, in milliseconds, for which earlier versions of rows are kept. It is longer than the maximum lag. */
const KEEP_MS = 2 * MAX_LAG * 1000;
/** While the clock runs, changes happen within this many milliseconds before the current time. */
const JUST_NOW_MS = 5000;
/** Shares of all changes by kind. All other changes have the kind CHANGED. */
const SHARE = { new: 0.06, removed: 0.07, relisted: 0.04 };
/** The maximum share of listed items that change in one round. A step with more changes has several rounds. */
const ROUND_SHARE = 0.7;

/** Advances the clock, and generates the changes that happen in the meantime (API §3, listing state of an item). */
export async function advanceWorld(
  world: World,
  clock: SimulatedClock,
  options: AdvanceOptions,
): Promise<AdvanceCounts> {
  const step = async (session: WorldSession, start: number): Promise<AdvanceCounts> => {
    const end = start + Math.round(options.hours * HOUR_MS);
    // A frozen clock moves past the changes by the feed's delay, so that all of them are visible.
    const isLong = end - start > 2 * FEED_DELAY_MS;
    const quiet = clock.isRunning ? 0 : FEED_DELAY_MS;
    const to = isLong ? end - quiet : Math.max(end, start + 1000);
    const from = clock.isRunning ? world.livedUntil : start;
    const total = options.changes ?? Math.round(countChanges(world, end - from));
    const kinds = await takeStep(world, session, { step: world.version + 1, total, from, to });
    clock.moveTo(isLong ? end : to + quiet);
    return { ...countKinds(kinds), now: clock.iso() };
  };
  return world.database.use((session) => clock.hold((start) => step(session, start)));
}

/**
 * Generates the changes that are due by the current time of a running clock. They happen in the last seconds, because a
 * client may already have read all earlier changes from the feed.
 * @param owed fraction of a change left by the last call
 * @returns the fraction left for the next call
 */
async function catchUpWorld(world: World, clock: SimulatedClock, owed: number): Promise<number> {
  const step = async (session: WorldSession, to: number): Promise<number> => {
    const from = world.livedUntil;
    const due = owed + countChanges(world, to - from);
    const total = Math.floor(due);
    if (to <= from || (total === 0 && !hasDueScrape(world.facts.sources, from, to))) return owed;
    await takeStep(world, session, { step: world.version + 1, total, from, to, changesFrom: to - JUST_NOW_MS });
    return due - total;
  };
  return world.database.use((session) => clock.hold((now) => step(session, now)));
}

function countChanges(world: World, ms: number): number {
  return (world.itemCount * CHANGES_PER_ITEM_HOUR * ms) / HOUR_MS;
}

function countKinds([created = 0, changed = 0, removed = 0, relisted = 0]: number[]): Omit<AdvanceCounts, 'now'> {
  return { changes: created + changed + removed + relisted, new: created, changed, removed, relisted };
}

interface Step {
  step: number;
  total: number;
  /** Milliseconds since 1970. Changes happen after `from`, up to `to`. */
  from: number;
  to: number;
  /** If this is later than `from`, changes happen only after this time. */
  changesFrom?: number;
}

async function takeStep(world: World, session: WorldSession, step: Step): Promise<number[]> {
  await storeScrapes(session, await chooseScrapes(world, session, step));
  const { listed } = await countScraped(session);
  const rounds = Math.max(1, Math.ceil(step.total / Math.max(1, Math.floor(listed * ROUND_SHARE))));
  const start = Math.max(step.from, step.changesFrom ?? step.from);
  const sliceAt = (round: number) => start + Math.floor(((step.to - start) * round) / rounds);
  const upTo = (round: number) => Math.floor((step.total * round) / rounds);
  let end = world.itemCount;
  for (let round = 0; round < rounds; round++) {
    const total = upTo(round + 1) - upTo(round);
    const salt = saltOf(world, step.step, round);
    end += await takeRound(world, session, { ...step, total, salt, end, from: sliceAt(round), to: sliceAt(round + 1) });
  }
  const keepScraped = world.keepsPast ? KEEP_SCRAPED_PAST : '';
  await session.run(keepScraped + APPLY_SCRAPES, { step: step.step });
  if (world.keepsPast) await session.run(FORGET_PAST, { until: (step.from - KEEP_MS) * 1000 });
  await world.countItems(session);
  const kinds = await publishChanges(world, session, saltOf(world, step.step, 999));
  world.publishStep(step.step);
  world.livedUntil = step.to;
  return kinds;
}

/** Chooses the sources that are due for a scrape, and further sources if the changes need more items. */
async function chooseScrapes(world: World, session: WorldSession, step: Step): Promise<Scrape[]> {
  const rows = await session.rows(
    'SELECT model_id, count(*) AS listed FROM items WHERE removed_at IS NULL GROUP BY model_id',
  );
  const listed = new Map(rows.map((row) => [row.model_id as bigint, Number(row.listed)]));
  return chooseEnough(world.facts.sources, listed, step);
}

interface Round extends Step {
  salt: number;
  end: number;
}

/**
 * Applies one round of changes, and adds items if there are too few items to change. Returns the number of new items.
 */
async function takeRound(world: World, session: WorldSession, round: Round): Promise<number> {
  const { total, salt, step, end } = round;
  const window = { from: round.from * 1000, to: round.to * 1000 };
  const { unlisted } = await countScraped(session);
  const relisted = Math.min(unlisted, Math.round(total * SHARE.relisted));
  const removed = Math.floor(total * SHARE.removed);
  const changed = total - removed - relisted - Math.round(total * SHARE.new);
  await session.run('DELETE FROM pick');
  await session.run(PICK_STEP_CHANGES, { ...window, items: world.itemCount, salt, relisted, removed, changed });
  const keepPast = world.keepsPast ? KEEP_STEP_PAST : '';
  await session.run(CREATE_STEP + INSERT_STEP_PENDING + keepPast + APPLY_STEP, { salt, step });
  const picked = Number((await session.row('SELECT count(*) AS picked FROM pick'))?.picked);
  const batch = { from: end, to: end + total - picked };
  if (batch.to > batch.from) {
    const firstSeen = window.from + 1;
    await world.facts.insertNewItems(session, { ...batch, firstSeen, span: window.to - firstSeen, salt, step });
    await session.run(INSERT_NEW_PENDING, batch);
  }
  return batch.to - batch.from;
}

async function countScraped(session: WorldSession): Promise<{ listed: number; unlisted: number }> {
  const row = await session.row(
    `SELECT count(*) FILTER (removed_at IS NULL) AS listed, count(*) FILTER (removed_at IS NOT NULL) AS unlisted
     FROM items SEMI JOIN scrapes USING (model_id)`,
  );
  return { listed: Number(row?.listed), unlisted: Number(row?.unlisted) };
}

/** Returns a seed for the random choices of one round, which differs from the seeds of all other rounds. */
function saltOf(world: World, step: number, round: number): number {
  return world.facts.seed * 10_000_000 + step * 1000 + round;
}

/** The real time between updates, in milliseconds. */
const TICK_MS = 1000;
/** The wait after an update, as a multiple of its duration, so that updates use at most a tenth of the time. */
const REST = 9;

type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

const sleepUnlessStopped: Sleep = (ms, signal) => wait(ms, undefined, { signal, ref: false }).catch(() => {});

/** Generates changes while a running clock advances, until `stop` is aborted. */
export async function liveOn(
  world: World,
  clock: SimulatedClock,
  stop: AbortSignal,
  sleep: Sleep = sleepUnlessStopped,
): Promise<void> {
  let owed = 0;
  let took = 0;
  while (!stop.aborted) {
    await sleep(Math.max(TICK_MS, REST * took), stop);
    if (stop.aborted) return;
    const started = performance.now();
    owed = await catchUpWorld(world, clock, owed);
    took = performance.now() - started;
  }
}
