import { isDeepStrictEqual } from 'node:util';
import type { ObjectStore } from '../../src/wings/remote/object-store.js';
import { demand } from './fault-scenario.js';
import { makeRemoteWorld, readPublished, readRemote, readVersions } from './machines.js';
import { dieAt } from './memory-store.js';

/** The place in which machines are killed. */
export interface DeathPlace {
  /** A place for a lake that is empty. */
  open(): Promise<ObjectStore>;
  /** Puts the store's clock ahead: the lease of a process of this machine that lives on runs out. */
  putAhead(ms: number): void;
}

/** So many requests of a run are before it writes. */
const BEFORE = 4;

/**
 * Kills a run at each `step`-th of its requests, and goes on: on its own machine and on another one in turns. What is
 * there then are whole versions, which all see alike.
 * @returns how many runs were killed
 */
export async function killAtRequests({ open, putAhead }: DeathPlace, step: number): Promise<number> {
  const requests = await countRequests(await open());
  let killed = 0;
  for (let last = BEFORE; last < requests; last += step, killed++) {
    putAhead(0);
    const world = await makeRemoteWorld(await open());
    try {
      const { store, machine } = world;
      const [first, dying, other] = [await machine(), await machine(), await machine()];
      await first.run(1);
      await dying.hold();
      const dead = dieAt(store, (_what, count) => count === last);
      await dying.run(2, dead).then(
        () => {
          throw new Error(`the run made no request ${last}`);
        },
        (error: unknown) => demand(`request ${last}`, String(error).includes('dead')),
      );
      await readRemote(store);
      putAhead(120_000);
      const goesOn = killed % 2 === 0 ? dying : other;
      await goesOn.run(3);
      const tables = await readRemote(store);
      const versions = { runs: tables.runs?.version, datasets: tables.datasets?.version };
      demand(`request ${last}: lake.json`, isDeepStrictEqual(await readPublished(store), versions));
      demand(`request ${last}: the folder`, isDeepStrictEqual(await readVersions(goesOn), versions));
    } finally {
      await world.close();
    }
  }
  putAhead(0);
  return killed;
}

/** Of a second run. Between any two of them the remote is whole, and lake.json names no version that isn't there. */
async function countRequests(store: ObjectStore): Promise<number> {
  const world = await makeRemoteWorld(store);
  let requests = 0;
  try {
    const first = await world.machine();
    await first.run(1);
    const watched = dieAt(store, async () => {
      requests += 1;
      const tables = await readRemote(store);
      for (const [table, version] of Object.entries((await readPublished(store)) ?? {})) {
        demand(`lake.json before request ${requests}`, (tables[table]?.version ?? -1) >= version);
      }
      return false;
    });
    await first.run(2, watched);
  } finally {
    await world.close();
  }
  return requests;
}
