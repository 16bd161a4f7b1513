import { expect } from 'vitest';
import type { z } from 'zod';
import { limitErrorBody, planInfo } from '../../../src/api/account-contract.js';
import type { AccountChange } from '../../../src/sandbox/http/account.js';
import type { Sandbox } from '../../../src/sandbox/start.js';
import { parse, Service } from '../service.js';

/** Every endpoint of section 4. */
export const PATHS = [
  ...['/datasets', '/facets', '/items', '/items/1', '/items/1/history', '/changes', '/changes/recent'],
  ...['/products', '/products/1', '/export', '/plan'],
];

/** One small world whose account the tests change. */
export class AccountWorld extends Service {
  /** The clock by which requests per second are counted, which doesn't advance by itself. */
  readonly #wall: { ms: number };

  private constructor(sandbox: Sandbox, wall: { ms: number }) {
    super(sandbox);
    this.#wall = wall;
  }

  static async open(): Promise<AccountWorld> {
    const wall = { ms: 0 };
    const { sandbox } = await Service.start({ items: 200, plan: 'unlimited', wallClock: () => wall.ms });
    return new AccountWorld(sandbox, wall);
  }

  passSecond(): void {
    this.#wall.ms += 1000;
  }

  /** Removes all limits of the caller. */
  reset(): void {
    this.sandbox.changeAccount({ plan: 'unlimited', limits: {}, overage: true, revoked: [], overdueDays: null });
  }

  /** Changes the account; requests a second stay free unless a test is about them. */
  set(change: AccountChange): void {
    this.sandbox.changeAccount({ ...change, limits: { ratePerSecond: null, ...change.limits } });
  }

  readAccount(key?: string): Promise<z.infer<typeof planInfo>> {
    return this.read('/plan', planInfo, key);
  }

  /** The limit error of a request that has to be refused with this status. */
  async refusal(path: string, status: number) {
    const answer = await this.get(path);
    expect(answer.status).toBe(status);
    return { ...parse(answer.text, limitErrorBody), retryAfter: answer.headers.get('retry-after') };
  }

  /** The simulated time, in milliseconds since 1970. */
  async now(): Promise<number> {
    const state = (await (await fetch(`${this.sandbox.baseUrl}/sandbox`)).json()) as { now: string };
    return Date.parse(state.now);
  }
}
