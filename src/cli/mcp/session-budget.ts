import * as z from 'zod';
import type { CallCap } from '../../api/client.js';
import { PricelakeError } from '../../io/errors.js';
import { int64 } from '../results/kinds.js';

/** Limits on what a session may use of the service's quotas. */
export interface SessionCaps {
  calls: bigint;
  exportRows: bigint;
  overageBlocks: bigint;
}

export type Spent = SessionCaps;
export const SPENT = { calls: int64, exportRows: int64, overageBlocks: int64 };
export const paidShape = {
  paid: z.object(SPENT).describe('Quota that this call used'),
  session: z.object({ spent: z.object(SPENT), left: z.object(SPENT) }),
};

const subtract = (a: Spent, b: Spent): Spent => ({
  calls: a.calls - b.calls,
  exportRows: a.exportRows - b.exportRows,
  overageBlocks: a.overageBlocks - b.overageBlocks,
});

/**
 * Tracks what a session uses of the service's quotas. Before each call of any client, it checks the limit on calls. A
 * call in progress counts as made. The limits on export rows and overage are applied to each run.
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
      throw new PricelakeError(
        'budget',
        `--max-calls allows ${calls} calls in this session, and all of them have been used`,
        {
          hint: 'Downloaded data is kept. Ask the user to restart the server with a larger budget.',
        },
      );
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

  /** Measures what `work` uses. @throws PaidError with the measured cost if `work` throws */
  async measure<T>(work: () => Promise<T>): Promise<{ result: T; paid: Spent }> {
    const before = this.#spent;
    try {
      return { result: await work(), paid: subtract(this.#spent, before) };
    } catch (error) {
      throw new PaidError(error, subtract(this.#spent, before));
    }
  }
}

/** Limits the calls of one run to the number that its plan allows, and to the rest of the session's budget. */
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
      throw new PricelakeError('budget', `the plan allows at most ${this.#most} calls, and all of them have been used`);
    }
    this.#session.begin();
    this.#begun += 1n;
  }

  end(reached: boolean): void {
    this.#session.end(reached);
    if (!reached) this.#begun -= 1n;
  }
}

/** An error in work that may have used quota. `paid` is the quota that the work used before the error. */
export class PaidError extends Error {
  readonly paid: Spent;

  constructor(cause: unknown, paid: Spent) {
    super('failed after paid calls', { cause });
    this.paid = paid;
  }
}
