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

/** A plan that was made in this session. The `sync` tool may run it once. */
export interface KnownPlan {
  isReconcile: boolean;
  state: LakeState;
  /** The cost that the plan reported. */
  cost: Spent;
  /** The most that a run of the plan may use, as the plan reported it. */
  allows: Spent;
}

/** The state of the lake for which a plan was made. It consists of the newest run and the unfinished run. */
export interface LakeState {
  published: string;
  unfinished: string | null;
  /** The export rows and the overage blocks that the unfinished run has already used. */
  taken: bigint;
  blocks: bigint;
}

/** The lake, limits and session budget that the tools of one server share. */
export interface Desk {
  /** The lake's folder on this machine. */
  path: string;
  lake: Lake;
  /** The remote lake that the server reads through a cache; undefined if it reads the lake at `path`. */
  remote: RemoteSource | undefined;
  /** The user's exchange rates. Queries can read them from the `rates` table. */
  rates: Conversion | undefined;
  /** The setting of the pipeline file that maps the column names of exports. */
  mapping: Mapping;
  snapshots: Snapshots;
  /** The maximum duration of a query in milliseconds. */
  most: number;
  /** The pipeline file that the user passed. If it is undefined, commands look for one. */
  pipeline: string | undefined;
  monthly: Budget;
  allowSync: boolean;
  session: SessionBudget;
  /** The plans made in this session, keyed by digest. */
  plans: Map<string, KnownPlan>;
  /** Runs tools that may cost money one after another, so that each answer reports only the cost of its own call. */
  inTurn: LimitFunction;
  io: CliIo;
  now(): Date;
}

export interface Call {
  desk: Desk;
  /** Aborted when the client cancels the call or the server stops. */
  signal: AbortSignal;
}

/**
 * Runs `work` on the newest snapshot. If a run deletes files of the snapshot while `work` reads them, retries once on a
 * new snapshot.
 */
export function useSnapshot<T>({ desk }: Call, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  const { snapshots } = desk;
  return snapshots.use(work).catch(async (error: unknown) => {
    if (!isLostFile(error)) throw error;
    await snapshots.renew();
    return snapshots.use(work);
  });
}

const PAST = new Set(['product_listings', 'product_history', 'listing_stock', 'spread_days']);

/** Returns true if the SQL, or an analysis that it includes, uses past prices, which take long to prepare. */
export const readsPast = (sql: string): boolean =>
  (sql.replaceAll(/--[^\n]*/gu, '').match(/\w+/gu) ?? []).some((word) => {
    const name = word.toLowerCase();
    return name === 'price_spells' || PAST.has(name);
  });

/** Returns true if an analysis, or an analysis that it includes, uses past prices. */
export const isOfPast = (analysis: string): boolean => readsPast(readAnalysis(analysis, PAST));

/**
 * Waits until past prices are prepared, because a query that computes them itself would take even longer.
 * @throws PricelakeError `query` if they aren't prepared within the maximum duration of a query
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

/** Returns the last part of a path. The rest would reveal where files are stored, so answers don't contain it. */
export const nameOf = (path: string): string => path.split(sep).filter(Boolean).at(-1) ?? path;
