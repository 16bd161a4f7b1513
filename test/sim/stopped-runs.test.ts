import { appendFile, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { Io } from '../../src/io/io.js';
import { renameSite, step } from './life.js';
import { openSimulation, type Simulation } from './simulation.js';

let simulation: Simulation;
afterEach(() => simulation.close());

/** Of the commits, the first, the last and two between. */
const STEP = /^(landed|settled|audited|pointed|committed (history|items|products|runs))/;

/** Runs until step number `stopAt`. True if it came to an end before that. */
async function runUntil(stopAt: number): Promise<boolean> {
  let steps = 0;
  const log: Io['log'] = (_level, event, { what = '', table = '' } = {}) => {
    if (STEP.test(`${event} ${what}${table}`) && ++steps === stopAt) throw new Error('stopped here');
  };
  try {
    await simulation.expectCopy(await simulation.sync({ log }), false);
    return true;
  } catch (error) {
    if (error instanceof Error && error.message === 'stopped here') return false;
    throw error;
  }
}

/** What a power loss may leave behind the last line that was synced. */
const TORN = [
  '',
  '{"type":"feed.pa',
  'junk\n',
  '\0'.repeat(40),
  `${'\0'.repeat(40)}\n`,
  `${'\0'.repeat(20)}\n{"type":"calls"}\n`,
];

async function tearJournal(tail: string): Promise<void> {
  const landing = path.join(simulation.lakePath, '_pricelake', 'landing');
  const [last] = (await readdir(landing)).sort().reverse();
  if (last !== undefined) await appendFile(path.join(landing, last, 'journal.ndjson'), tail);
}

test.each([
  ['loses no byte', false],
  ['leaves torn tails of its journal', true],
])(
  'a run that is stopped again and again, and %s, ends in an exact copy of a world that goes on',
  async (_, isTorn) => {
    simulation = await openSimulation({ seed: 11, items: 30, habits: { moving: true, chunkBytes: 4096, gzip: true } });
    const { world } = simulation;
    for (const run of ['first', 'second']) {
      let stops = 0;
      while (!(await runUntil(stops + 1))) {
        stops++;
        if (isTorn) await tearJournal(TORN[stops % TORN.length] as string);
        for (let n = 0; n < 6; n++) step(world);
        if (stops === 4) renameSite(world, 1);
      }
      expect(stops, `${run} run`).toBeGreaterThan(3);
      renameSite(world, 2);
    }
    simulation.still = true;
    world.settle();
    await simulation.expectCopy(await simulation.sync(), true);
  },
);

test('a run that stopped between two tables and lost its landing is made good by the next', async () => {
  simulation = await openSimulation({ seed: 12, items: 40, habits: { shuffledRows: true } });
  const { world, lakePath } = simulation;
  for (const committed of [1, 2]) {
    await stopAfterCommits(committed);
    await rm(path.join(lakePath, '_pricelake', 'landing'), { recursive: true });
    for (let n = 0; n < 20; n++) step(world);
    world.settle();
    await simulation.expectCopy(await simulation.sync(), true);
    for (let n = 0; n < 20; n++) step(world);
    world.settle();
  }
});

async function stopAfterCommits(count: number): Promise<void> {
  let commits = 0;
  const log = (_level: string, event: string) => {
    if (event === 'committed' && ++commits === count) throw new Error('stopped here');
  };
  await expect(simulation.sync({ log })).rejects.toThrow('stopped here');
}
