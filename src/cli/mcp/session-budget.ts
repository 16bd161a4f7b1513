import * as z from 'zod';
import type { CallCap } from '../../api/client.js';
import { PricelakeError } from '../../io/errors.js';
import { int64 } from '../results/kinds.js';

/** The limits of what a session may take from the service. */
export interface SessionCaps {
  calls: bigint;
  exportRows: bigint;
  overageBlocks: bigint;
}

export type Spent = SessionCaps;
export const SPENT = { calls: int64, exportRows: int64, overageBlocks: int64 };
export const paidShape = {
  paid: z.object(SPENT).describe('Taken from the service by this call'),
  session: z.object({ spent: z.object(SPENT), left: z.object(SPENT) }),
};

const subtract = (a: Spent, b: Spent): Spent => ({
  calls: a.calls - b.calls,
  exportRows: a.exportRows - b.exportRows,
  overageBlocks: a.overageBlocks - b.overageBlocks,
});

/**
 * Counts what a session takes from the service. The cap of calls holds for each call of any client; the caps of export
 * rows and overage hold for each run. Reserved calls count as made.
 */
export class SessionBudget implements CallCap {
  readonly #caps: SessionCaps;
  #spent: Spent = { calls: 0n, exportRows: 0n, overageBlocks: 0n };
  #underWay = 0n;

  constructor(caps: SessionCaps) {
    this.#caps = caps;
  }

  get spent(): Spent {
    return this.#spent;
  }

  get left(): Spent {
    return subtract(this.#caps, this.#spent);
  }

  begin(): void {
    const { calls } = this.#caps;
    if (this.#spent.calls + this.#underWay >= calls) {
      throw new PricelakeError('budget', `--max-calls allows ${calls} calls in this session, and none are left`, {
        hint: 'Landed data is kept. Ask the user to restart the server with a larger budget.',
      });
    }
    this.#underWay += 1n;
  }

  end(reached: boolean): void {
    this.#underWay -= 1n;
    if (reached) this.#spent = { ...this.#spent, calls: this.#spent.calls + 1n };
  }

  takeExport(exportRows: bigint, overageBlocks: bigint): void {
    const { calls, exportRows: rows, overageBlocks: blocks } = this.#spent;
    this.#spent = { calls, exportRows: rows + exportRows, overageBlocks: blocks + overageBlocks };
  }

  /** Measures what `work` takes, even if it fails. */
  async measure<T>(work: () => Promise<T>): Promise<{ result: T; paid: Spent }> {
    const before = this.#spent;
    try {
      return { result: await work(), paid: subtract(this.#spent, before) };
    } catch (error) {
      throw new PaidError(error, subtract(this.#spent, before));
    }
  }
}

/** Limits the calls of one run to what its plan announced, within the budget of the session. */
export class PlannedCalls implements CallCap {
  readonly #session: SessionBudget;
  readonly #most: bigint;
  #begun = 0n;

  constructor(session: SessionBudget, most: bigint) {
    this.#session = session;
    this.#most = most;
  }

  begin(): void {
    if (this.#begun >= this.#most) {
      throw new PricelakeError('budget', `the plan allows at most ${this.#most} calls, and none are left`);
    }
    this.#session.begin();
    this.#begun += 1n;
  }

  end(reached: boolean): void {
    this.#session.end(reached);
    if (!reached) this.#begun -= 1n;
  }
}

/** Wraps an error of work that had already made paid calls. */
export class PaidError extends Error {
  readonly paid: Spent;

  constructor(cause: unknown, paid: Spent) {
    super('failed after paid calls', { cause });
    this.paid = paid;
  }
}
