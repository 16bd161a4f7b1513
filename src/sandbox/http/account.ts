import { createHash } from 'node:crypto';
import type { SimulatedClock } from '../clock.js';
import { PLANS, type Plan, type PlanCode, type PlanLimits, TRIAL_DAYS } from '../plans.js';
import { RateLimiter } from './rate-limiter.js';

export interface AccountOptions {
  seed: number;
  plan: PlanCode;
  /** Limits that differ from the plan's own. */
  limits: Partial<PlanLimits>;
  overage?: boolean | undefined;
}

export type KeyKind = 'live' | 'test';

/** The one customer of the sandbox: keys, plan, and what was used this month (sections 2, 5 and 8). */
export class Account {
  readonly keys: Record<KeyKind, string>;
  readonly trialEndsAt: Date | null;
  readonly #clock: SimulatedClock;
  readonly #options: AccountOptions;
  readonly #limiters = new Map<string, RateLimiter>();
  #month: number;
  #apiCalls = 0;
  #exportRows = 0;

  constructor(clock: SimulatedClock, options: AccountOptions) {
    this.#clock = clock;
    this.#options = options;
    this.keys = { live: deriveKey('live', options.seed), test: deriveKey('test', options.seed) };
    this.trialEndsAt = options.plan === 'trial' ? new Date(clock.now() + TRIAL_DAYS * 86_400_000) : null;
    this.#month = clock.monthEnd().getTime();
  }

  /** The plan in effect: Free once a trial has ended. Limits of the options hold in either. */
  get plan(): Plan {
    const { plan, limits, overage } = this.#options;
    const hasEnded = this.trialEndsAt !== null && this.#clock.now() >= this.trialEndsAt.getTime();
    const chosen: Plan = hasEnded ? { ...PLANS.free, status: 'CANCELED' } : PLANS[plan];
    return { ...chosen, limits: { ...chosen.limits, ...limits }, overage: overage ?? chosen.overage };
  }

  /** Kind of the key in `Authorization: Bearer …`, or null. */
  identify(authorization: string | null): KeyKind | null {
    const key = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
    if (key === this.keys.live) return 'live';
    return key === this.keys.test ? 'test' : null;
  }

  /** Rates are counted for each key on its own. */
  limiter(kind: KeyKind): RateLimiter {
    const perSecond = this.plan.limits.ratePerSecond;
    const name = `${kind} ${perSecond}`;
    const limiter = this.#limiters.get(name) ?? new RateLimiter(perSecond);
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

  /** Whole seconds of the simulated clock until then, at least 1. */
  secondsTo(moment: Date): number {
    return Math.max(1, Math.ceil((moment.getTime() - this.#clock.now()) / 1000));
  }

  countCall(): void {
    this.#apiCalls = this.usage.apiCalls + 1;
  }

  countExportRows(rows: number): void {
    this.#exportRows = this.usage.exportRows + rows;
  }
}

function deriveKey(kind: KeyKind, seed: number): string {
  return `sandbox_${kind}_${createHash('sha256').update(`${kind} key ${seed}`).digest('hex').slice(0, 24)}`;
}
