import { sep } from 'node:path';
import type { LimitFunction } from 'p-limit';
import type { Conversion } from '../../analyze/exchange-rates.js';
import type { Snapshot } from '../../explore/snapshot.js';
import type { Snapshots } from '../../explore/snapshots.js';
import { PricelakeError } from '../../io/errors.js';
import { isLostFile } from '../../lake/file-fault.js';
import type { Budget } from '../../plan/allowance.js';
import { readAnalysis } from '../../sql/model.js';
import type { Mapping } from '../../tables/item-names.js';
import type { Lake } from '../../tables/layout.js';
import type { RemoteSource } from '../join-lakes.js';
import type { CliIo } from '../terminal-io.js';
import type { SessionBudget, Spent } from './session-budget.js';

/** A plan that `sync` may carry out, once. */
export interface KnownPlan {
  isReconcile: boolean;
  state: LakeState;
  /** The cost that the plan announced. */
  cost: Spent;
  /** The limits that the plan announced for its run. */
  allows: Spent;
}

/** The state that a plan was made for: the lake's newest run, and the unfinished run. */
export interface LakeState {
  published: string;
  unfinished: string | null;
  /** Export rows and overage blocks that the unfinished run has already taken. */
  taken: bigint;
  blocks: bigint;
}

/** The lake, limits and budget that the tools of one server share. */
export interface Desk {
  /** The lake's folder on this machine. */
  path: string;
  lake: Lake;
  /** The remote that is read through a cache instead of `path`. */
  remote: RemoteSource | undefined;
  /** The user's exchange rates, as the `rates` table of each snapshot. */
  rates: Conversion | undefined;
  /** The pipeline's own names for columns of export rows. */
  mapping: Mapping;
  snapshots: Snapshots;
  /** The time limit of a query in milliseconds. */
  most: number;
  /** The named pipeline file; undefined if commands look for one. */
  pipeline: string | undefined;
  monthly: Budget;
  allowSync: boolean;
  session: SessionBudget;
  /** The plans of the session, by digest. */
  plans: Map<string, KnownPlan>;
  /** Runs paid calls one at a time, so that each answer reports its own cost. */
  inTurn: LimitFunction;
  io: CliIo;
  now(): Date;
}

/** A call of a tool. */
export interface Call {
  desk: Desk;
  /** Aborted when the client cancels, or the server stops. */
  signal: AbortSignal;
}

/** Lends the newest snapshot. Tries again if a run has removed its files meanwhile. */
export function useSnapshot<T>({ desk }: Call, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  const { snapshots } = desk;
  return snapshots.use(work).catch(async (error: unknown) => {
    if (!isLostFile(error)) throw error;
    await snapshots.renew();
    return snapshots.use(work);
  });
}

const PAST = new Set(['product_listings', 'product_history', 'listing_stock', 'spread_days']);

/** True if a query, or an analysis within it, reads rows that take long to prepare. */
export const readsPast = (sql: string): boolean =>
  (sql.replaceAll(/--[^\n]*/gu, '').match(/\w+/gu) ?? []).some((word) => {
    const name = word.toLowerCase();
    return name === 'price_spells' || PAST.has(name);
  });

/** As `readsPast`, for an analysis and those that it includes. */
export const isOfPast = (analysis: string): boolean => readsPast(readAnalysis(analysis, PAST));

/**
 * Waits until the rows of the past are prepared, at most for the time limit of a query: computing them in the query
 * would take longer.
 * @throws PricelakeError `query` if they are not ready by then
 */
export async function waitUntilWhole(snapshot: Snapshot, { desk, signal }: Call): Promise<void> {
  if (snapshot.isWhole) return;
  const late = new Promise<void>((resolve) => setTimeout(resolve, desk.most).unref());
  const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  await Promise.race([snapshot.whole, late, stopped]);
  signal.throwIfAborted();
  if (snapshot.isWhole) return;
  throw new PricelakeError('query', 'past prices are being prepared, which happens once for each run', {
    hint: 'Try again in a minute. Questions about current prices are answered immediately.',
  });
}

/** The folder's name, without its path on the machine. */
export const nameOf = (path: string): string => path.split(sep).filter(Boolean).at(-1) ?? path;
