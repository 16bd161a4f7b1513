/** Sessions of a database whose statements begin late, as on a loaded machine: what does not wait for them goes wrong. */
import { setTimeout as wait } from 'node:timers/promises';
import { DuckDBConnection } from '@duckdb/node-api';
import { vi } from 'vitest';
import { Database } from '../src/duckdb/connection.js';

/** Whatever can go on without the statement does so meanwhile. */
const QUIET_MS = 4;
/** Before a session begins, others may ask the service and wait for the disk. */
const FIRST_QUIET_MS = 100;

/** Says of each statement if it is late. Session 0 opened the database; its forks, and theirs, count from 1 in order. */
export type IsLate = (session: number) => boolean;

export interface LateSessions {
  /** The sessions that had a late statement. */
  held: Set<number>;
  end(): void;
}

/** Until `end`, a late statement begins only when no other has begun or come to its end for some time. */
export function delaySessions(isLate: IsLate): LateSessions {
  const numbers = new WeakMap<DuckDBConnection, number>();
  const roots = new WeakMap<Database, Database>();
  const counts = new WeakMap<Database, number>();
  const held = new Set<number>();
  let [running, seen] = [0, 0];

  const { fork } = Database.prototype;
  const forking = vi.spyOn(Database.prototype, 'fork').mockImplementation(async function (this: Database) {
    const made = await fork.call(this);
    const root = roots.get(this) ?? this;
    const number = (counts.get(root) ?? 0) + 1;
    counts.set(root, number);
    roots.set(made, root);
    numbers.set(made.connection, number);
    return made;
  });

  const hold = async (session: number) => {
    const quiet = held.has(session) ? QUIET_MS : FIRST_QUIET_MS;
    held.add(session);
    for (let before = -1; before !== seen || running > 0; ) {
      before = seen;
      await wait(quiet);
    }
  };
  const follow = <A extends unknown[], R>(statement: (this: DuckDBConnection, ...args: A) => Promise<R>) =>
    async function (this: DuckDBConnection, ...args: A): Promise<R> {
      const session = numbers.get(this) ?? 0;
      if (isLate(session)) await hold(session);
      running += 1;
      seen += 1;
      try {
        return await statement.apply(this, args);
      } finally {
        running -= 1;
        seen += 1;
      }
    };
  const { run, stream } = DuckDBConnection.prototype;
  const spies = [
    forking,
    vi.spyOn(DuckDBConnection.prototype, 'run').mockImplementation(follow(run)),
    vi.spyOn(DuckDBConnection.prototype, 'stream').mockImplementation(follow(stream)),
  ];
  const end = () => {
    for (const spy of spies) spy.mockRestore();
  };
  return { held, end };
}
