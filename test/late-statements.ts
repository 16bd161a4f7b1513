/** Statements that begin late, as on a loaded machine: whatever works only because something else came first goes wrong. */
import { setTimeout as wait } from 'node:timers/promises';
import { vi } from 'vitest';
import { Database } from '../src/sql/connection.js';

/** Whatever can go on without the statement does so meanwhile. */
const QUIET_MS = 4;

export interface LateStatements {
  /** How many were late. */
  held: number;
  end(): void;
}

/** Until `end`, a late statement begins only when no other has begun or come to its end for some time. */
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
