/** Delays SQL statements, as on a loaded machine, so that code fails if it relies on something else coming first. */
import { setTimeout as wait } from 'node:timers/promises';
import { vi } from 'vitest';
import { Database } from '../src/sql/connection.js';

/** Everything that doesn't depend on the statement can continue during this time. */
const QUIET_MS = 4;

export interface LateStatements {
  /** The number of delayed statements. */
  held: number;
  end(): void;
}

/** Until `end`, a late statement begins only when no other has begun or ended for some time. */
export function delayStatements(isLate: () => boolean): LateStatements {
  let [running, seen] = [0, 0];
  const hold = async () => {
    for (let before = -1; before !== seen || running > 0; ) {
      before = seen;
      await wait(QUIET_MS);
    }
  };
  const { withSession } = Database.prototype;
  const spy = vi.spyOn(Database.prototype, 'withSession').mockImplementation(async function (this: Database, work) {
    if (isLate()) {
      late.held += 1;
      await hold();
    }
    running += 1;
    seen += 1;
    try {
      return await withSession.call(this, work);
    } finally {
      running -= 1;
      seen += 1;
    }
  });
  const late = { held: 0, end: () => spy.mockRestore() };
  return late;
}
