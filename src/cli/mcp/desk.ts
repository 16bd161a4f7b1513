import { sep } from 'node:path';
import type { LimitFunction } from 'p-limit';
import type { Conversion } from '../../analyze/exchange-rates.js';
import type { Snapshot } from '../../explore/snapshot.js';
import type { Snapshots } from '../../explore/snapshots.js';
import { PricelakeError } from '../../io/errors.js';
import { isLostFile } from '../../lake/file-fault.js';
import type { Lake } from '../../lake/lake.js';
import type { Budget } from '../../plan/allowance.js';
import { readAnalysis } from '../../sql/model.js';
import type { Mapping } from '../../tables/item-names.js';
import type { RemoteSource } from '../join-lakes.js';
import type { CliIo } from '../terminal-io.js';
import type { SessionBudget, Spent } from './session-budget.js';

/** A plan that `sync` may carry out, once. */
export interface KnownPlan {
  isReconcile: boolean;
  state: LakeState;
  /** The announced cost. */
  cost: Spent;
  /** The announced limits of its run. */
  allows: Spent;
}

/** The state that a plan was made for: the newest run of the lake, and the run that it continues. */
export interface LakeState {
  published: string;
  unfinished: string | null;
  /** Rows and blocks that the unfinished run has taken. */
  taken: bigint;
  blocks: bigint;
}

/** The lake, the limits and the budget that tools of one server share. */
export interface Desk {
  /** The folder of the lake on this machine. */
  path: string;
  lake: Lake;
  /** The remote that is read instead of `path`, through a cache. */
  remote: RemoteSource | undefined;
  /** The user's exchange rates, as table `rates` of each snapshot. */
  rates: Conversion | undefined;
  /** Columns of export rows with names of their own. */
  mapping: Mapping;
  snapshots: Snapshots;
  /** Longest time of one query, in milliseconds. */
  most: number;
  /** The pipeline file that is named; undefined if commands look for one. */
  pipeline: string | undefined;
  monthly: Budget;
  allowSync: boolean;
  session: SessionBudget;
  /** Plans of the session, by their digest. */
  plans: Map<string, KnownPlan>;
  /** One paid call at a time, so that each answer names what it took. */
  inTurn: LimitFunction;
  io: CliIo;
  now(): Date;
}

/** One call of a tool. */
export interface Call {
  desk: Desk;
  /** Aborted when the client cancels, or the server stops. */
  signal: AbortSignal;
}

/** Lends the newest snapshot, and tries again if a run has removed files of it. */
export function useSnapshot<T>({ desk }: Call, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  const { snapshots } = desk;
  return snapshots.use(work).catch(async (error: unknown) => {
    if (!isLostFile(error)) throw error;
    await snapshots.renew();
    return snapshots.use(work);
  });
}

const PAST = new Set(['product_listings', 'product_history', 'listing_stock', 'spread_days']);

/** True if a query, or an analysis within it, reads rows that take long to make. */
export const readsPast = (sql: string): boolean =>
  (sql.replaceAll(/--[^\n]*/gu, '').match(/\w+/gu) ?? []).some((word) => {
    const name = word.toLowerCase();
    return name === 'price_spells' || PAST.has(name);
  });

/** As `readsPast`, of an analysis with those that it runs. */
export const isOfPast = (analysis: string): boolean => readsPast(readAnalysis(analysis, PAST));

/**
 * Waits until rows of the past are prepared, but no longer than a query may take: without them, it would take longer.
 * @throws PricelakeError `query` if they are not ready by then
 */
export async function waitUntilWhole(snapshot: Snapshot, { desk, signal }: Call): Promise<void> {
  if (snapshot.isWhole) return;
  const late = new Promise<void>((resolve) => setTimeout(resolve, desk.most).unref());
  const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  await Promise.race([snapshot.whole, late, stopped]);
  signal.throwIfAborted();
  if (snapshot.isWhole) return;
  throw new PricelakeError('query', 'the prices of the past are being prepared, once for each run', {
    hint: 'Ask again in a minute. Questions about present prices are answered at once.',
  });
}

/** The folder, without a path of the machine. */
export const nameOf = (path: string): string => path.split(sep).filter(Boolean).at(-1) ?? path;
