/**
 * Another schedule for each seed: whatever begins a statement, a call or a file operation waits a little before it, so
 * that what runs side by side comes in any order. Whatever works only because something else came first goes wrong.
 */
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { Database } from '../../src/sql/connection.js';
import type { Seeded } from '../seeded.js';

/** Mostly a few turns of the event loop; now and then so long that whatever else can go on does so. */
export async function pause(random: Seeded): Promise<void> {
  if (random.fraction() < 0.02) await wait(1 + random.integer(6));
  for (let turns = random.integer(4); turns > 0; turns--) await nextTurn();
}

/** Statements wait before they begin, until the returned function is called. */
export function pauseStatements(random: Seeded): () => void {
  const { withSession } = Database.prototype;
  Database.prototype.withSession = async function <T>(this: Database, work: Parameters<typeof withSession<T>>[0]) {
    await pause(random);
    return withSession.call(this, work) as Promise<T>;
  };
  return () => {
    Database.prototype.withSession = withSession;
  };
}
