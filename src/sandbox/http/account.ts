import { createHash } from 'node:crypto';
import * as z from 'zod';
import { PricelakeError } from '../../io/errors.js';
import type { SimulatedClock } from '../clock.js';
import { OVERDUE_DAYS, PLAN_CODES, PLANS, type Plan, type PlanLimits, planLimits, TRIAL_DAYS } from '../plans.js';

export const KEY_KINDS = ['live', 'test', 'operator'] as const;
export type KeyKind = (typeof KEY_KINDS)[number];

const DAY_MS = 86_400_000;

/** Settings of the account, which can be set at the start or changed by control requests. */
const accountSettings = z.strictObject({
  plan: z.enum(PLAN_CODES),
  /** Limits that override the limits of the plan (API §8). */
  limits: planLimits.partial(),
  /** True to allow overage if the plan includes it (API §4, /export, quota rules 2 and 3). */
  overage: z.boolean(),
  /** Kinds of keys for which the service responds with 401 (API §5, rule 4). */
  revoked: z.array(z.enum(KEY_KINDS)),
  /**
   * The number of days since an overdue payment was due; null if no payment is overdue. While a payment is overdue, the
   * status is PAST_DUE. From day 30, requests return 402.
   */
  overdueDays: z.number().nonnegative().nullable(),
});
export const accountChange = accountSettings.partial();
type AccountSettings = z.infer<typeof accountSettings>;
export type AccountChange = z.infer<typeof accountChange>;

/** The sandbox's only account: its keys, its plan, and its usage in the current month (API §2, §5 and §8). */
export class Account {
  readonly keys: Record<KeyKind, string>;
  readonly #clock: SimulatedClock;
  readonly #wallClock: () => number;
  readonly #limiters = new Map<string, RateLimiter>();
  /** Limits that were set when the sandbox started. Limits that are set later take precedence. */
  readonly #startLimits: Partial<PlanLimits>;
  #settings: AccountSettings = { plan: 'pro', limits: {}, overage: true, revoked: [], overdueDays: null };
  #trialEnd: number | null = null;
  /** When the overdue payment was due, in milliseconds since 1970; null if no payment is overdue. */
  #overdueSince: number | null = null;
  #month: number;
  #apiCalls = 0;
  #exportRows = 0;

  constructor(clock: SimulatedClock, seed: number, settings: AccountChange, wallClock: () => number) {
    this.#clock = clock;
    this.#wallClock = wallClock;
    this.keys = { live: deriveKey('live', seed), test: deriveKey('test', seed), operator: deriveKey('operator', seed) };
    this.#month = clock.monthEnd().getTime();
    this.#startLimits = dropUndefined(settings.limits ?? {});
    this.change({ ...settings, limits: {} });
  }

  /**
   * Changes the given settings. `limits` replaces the limits of earlier changes, but not those set at the start.
   * @throws PricelakeError `usage` if the plan can't have overdue payments; then nothing is changed
   */
  change(change: AccountChange): void {
    const next = { ...this.#settings, ...dropUndefined(change) };
    if (next.overdueDays !== null && PLANS[next.plan].status !== 'ACTIVE') {
      throw new PricelakeError('usage', `the ${next.plan} plan can't have overdue payments; use pro or unlimited`);
    }
    const now = this.#clock.now();
    if (change.plan !== undefined) this.#trialEnd = change.plan === 'trial' ? now + TRIAL_DAYS * DAY_MS : null;
    if (change.overdueDays !== undefined) {
      this.#overdueSince = change.overdueDays === null ? null : now - change.overdueDays * DAY_MS;
    }
    this.#settings = next;
  }

  /** When the current trial ends; null if the account has no trial or the trial is over. */
  get trialEndsAt(): Date | null {
    return this.#trialEnd === null || this.#clock.now() >= this.#trialEnd ? null : new Date(this.#trialEnd);
  }

  /** The plan in effect, with the account's own limits applied. After a trial, it is the Free plan. */
  get plan(): Plan {
    const { plan, limits, overage } = this.#settings;
    const hasEnded = this.#trialEnd !== null && this.trialEndsAt === null;
    const chosen: Plan = hasEnded ? { ...PLANS.free, status: 'CANCELED' } : PLANS[plan];
    const status = this.#overdueSince === null ? chosen.status : 'PAST_DUE';
    return {
      ...chosen,
      status,
      limits: { ...chosen.limits, ...this.#startLimits, ...dropUndefined(limits) },
      overage: chosen.overage && overage,
    };
  }

  get isPaymentOverdue(): boolean {
    return this.#overdueSince !== null && this.#clock.now() >= this.#overdueSince + OVERDUE_DAYS * DAY_MS;
  }

  /** Returns the kind of key in an Authorization header, or null if the key is missing, unknown or revoked. */
  identify(authorization: string | null): KeyKind | null {
    const kind = this.findKind(authorization);
    return kind === null || this.#settings.revoked.includes(kind) ? null : kind;
  }

  /**
   * Returns the kind of key in an Authorization header, even if the key is revoked; null if it is missing or unknown.
   */
  findKind(authorization: string | null): KeyKind | null {
    const key = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
    return KEY_KINDS.find((one) => this.keys[one] === key) ?? null;
  }

  limiter(kind: KeyKind): RateLimiter {
    const perSecond = this.plan.limits.ratePerSecond;
    const name = `${kind} ${perSecond}`;
    const limiter = this.#limiters.get(name) ?? new RateLimiter(perSecond, this.#wallClock);
    this.#limiters.set(name, limiter);
    return limiter;
  }

  get usage(): { apiCalls: number; exportRows: number; resetsAt: Date } {
    const resetsAt = this.#clock.monthEnd();
    if (resetsAt.getTime() !== this.#month) {
      this.#month = resetsAt.getTime();
      this.#apiCalls = 0;
      this.#exportRows = 0;
    }
    return { apiCalls: this.#apiCalls, exportRows: this.#exportRows, resetsAt };
  }

  secondsTo(moment: Date): number {
    return this.#clock.secondsTo(moment);
  }

  /** Counts calls, except calls with the operator key (API §2, PlanInfo). A negative number removes calls. */
  countCall(kind: KeyKind, calls = 1): void {
    if (isMetered(kind)) this.#apiCalls = Math.max(0, this.usage.apiCalls + calls);
  }

  countExportRows(kind: KeyKind, rows: number): void {
    if (isMetered(kind)) this.#exportRows = this.usage.exportRows + rows;
  }
}

export function isMetered(kind: KeyKind): boolean {
  return kind !== 'operator';
}

type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Removes properties that are undefined. */
export function dropUndefined<T extends object>(given: T): Given<T> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Given<T>;
}

function deriveKey(kind: KeyKind, seed: number): string {
  return `sandbox_${kind}_${createHash('sha256').update(`${kind} key ${seed}`).digest('hex').slice(0, 24)}`;
}

/** A token bucket that limits requests per second of real time. Its capacity is one second's worth of requests. */
class RateLimiter {
  readonly perSecond: number | null;
  readonly #now: () => number;
  #tokens: number;
  #filledAt: number;

  /** @param now returns a monotonic time in milliseconds */
  constructor(perSecond: number | null, now: () => number) {
    this.perSecond = perSecond;
    this.#now = now;
    this.#filledAt = now();
    this.#tokens = this.#capacity;
  }

  get #capacity(): number {
    return Math.max(1, this.perSecond ?? 1);
  }

  /** Takes a token. Returns 0 if the request is allowed, or the number of seconds to wait. */
  take(): number {
    if (this.perSecond === null) return 0;
    const now = this.#now();
    this.#tokens = Math.min(this.#capacity, this.#tokens + ((now - this.#filledAt) / 1000) * this.perSecond);
    this.#filledAt = now;
    if (this.#tokens >= 1) {
      this.#tokens -= 1;
      return 0;
    }
    return Math.max(1, Math.ceil((1 - this.#tokens) / this.perSecond));
  }

  get remaining(): number {
    return Math.floor(this.#tokens);
  }
}
