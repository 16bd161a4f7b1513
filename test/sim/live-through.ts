/**
 * The life of a world beside a lake that real runs keep, and what must hold. The world knows the truth; the oracle asks it.
 *
 * Safety and liveness, in plain words:
 * - Never stale: the world stands still, and longer than the largest lag and the feed's delay have passed. The next run,
 *   or one of three more with the clock moved on by the lag between them, makes every item equal to the truth. A removal
 *   without a name, or a change of an unknown kind, close behind another that the feed dates later takes an hour: only
 *   then is the row taken as it is.
 * - Every event once: each change that the feed delivered is in history exactly once, at any time and in whatever order
 *   runs and answers came. At the end no diff row stands beside the events of an item that the feed told whole.
 * - Never overclaims: a run that began after all that had happened was older than the largest lag and the feed's delay
 *   says `caught_up` only if the lake is then the truth. Of runs in a world that moves nothing is asked: what they can't
 *   know yet they may miss. Items that left the data, or came back to it, count after a complete copy only: nothing
 *   else tells of them.
 * - Sound: `verifyLake` finds nothing on a lake that is right.
 *
 * Only legal sequences: a listing is NEW once, CHANGED or REMOVED while listed, RELISTED when removed; ids increase;
 * a change shows in the feed 30 s after it was observed and in other answers at once, or by a constant lag of each
 * kind later; only replicas may show an older state after a newer one. No answer shows what has not happened.
 */
import { PricelakeError } from '../../src/io/errors.js';
import type { RunReport } from '../../src/run/sync.js';
import { syncWithWings } from '../../src/wings/index.js';
import { Mismatch } from './compare.js';
import { type Habits, largestLag } from './habits.js';
import { hideOne, leaveAndReturn, renameDataset, renameSite, step } from './life.js';
import { Script } from './script.js';
import { openSimulation, type Simulation } from './simulation.js';
import { SECOND, type World } from './world.js';

/**
 * What happens beside the habits of the service: the machine loses its power in the middle of runs, files of the lake are
 * damaged behind its back, or answers are not as the document says.
 */
export const TROUBLES = ['power-loss', 'damage', 'answers'] as const;
export type Trouble = (typeof TROUBLES)[number];

export interface Life {
  seed: number;
  habits: Partial<Habits>;
  items: number;
  rounds: number;
  trouble?: Trouble | undefined;
  /** Steps and troubles that are left out (script.ts). */
  without?: readonly string[] | undefined;
}

const EVENTS_A_ROUND = 12;
const CATCH_UPS = 4;
const HOUR = 3600n * SECOND;
const DAY = 24n * HOUR;

/** @throws Mismatch when the lake is not what the world is, or whatever a run throws */
export async function liveThrough({ rounds, trouble, ...life }: Life, script = new Script(life)): Promise<void> {
  const simulation = await openSimulation({ ...life, losesPower: trouble === 'power-loss', script });
  try {
    await simulation.expectCopy(await run(simulation), false);
    for (let round = 1; round <= rounds; round++) {
      moveOn(simulation, script, round, round === rounds);
      await simulation.expectCopy(await run(simulation), false);
    }
    simulation.still = true;
    await catchUp(simulation, false);
    if (simulation.world.habits.leaving !== 'never') {
      simulation.pipeline.source.mode = 'snapshot';
      await catchUp(simulation, true);
    }
    await simulation.expectSound();
    await refuseUnknownDataset(simulation);
  } finally {
    await simulation.close();
  }
}

/** A round: things happen, and where the pipeline pauses, on both sides of it. */
function moveOn({ world }: Simulation, script: Script, round: number, isLast: boolean): void {
  const happen = (name: string, event: (world: World, round: number) => void) => {
    world.random = script.draw(`${name}${round}`);
    if (script.takes(`${name}${round}`)) event(world, round);
  };
  const steps = (from: number) => {
    for (let n = from; n < from + EVENTS_A_ROUND / 2; n++) happen(`step ${n} of `, step);
  };
  // Longer than any window that a run may look back by.
  happen('hours of ', ({ random }) => {
    if (random.fraction() < 0.6) world.now += 5n * HOUR;
  });
  steps(0);
  happen('leaving of ', leaveAndReturn);
  if (isLast) world.now += BigInt(world.habits.pause) * DAY;
  steps(EVENTS_A_ROUND / 2);
  happen('hiding of ', hideOne);
  happen('dataset of ', renameDataset);
  happen('site of ', renameSite);
}

/** A run that is refused for now is asked again, as a scheduler would. */
async function run(simulation: Simulation): Promise<RunReport> {
  for (let tries = 1; ; tries++) {
    try {
      return await simulation.sync();
    } catch (error) {
      const isPassing =
        error instanceof PricelakeError && ['unavailable', 'offline', 'snapshot_incomplete'].includes(error.code);
      if (!isPassing || tries === 3) throw error;
      simulation.world.settle();
    }
  }
}

/** Runs until the lake is the truth. @throws Mismatch where it never is, or a run says so too early */
export async function catchUp(simulation: Simulation, copiedAll: boolean): Promise<void> {
  const { world } = simulation;
  const lag = largestLag(world.habits);
  const { removedItem, kinds } = world.habits;
  for (let look = 1; ; look++) {
    world.settle(lag);
    if (look === CATCH_UPS && (removedItem === 'null' || kinds === 'some')) world.now += HOUR;
    const report = await run(simulation);
    try {
      return await simulation.expectCopy(report, true, copiedAll);
    } catch (error) {
      if (!(error instanceof Mismatch)) throw error;
      if (report.row.caught_up) throw overclaim(error);
      if (look === CATCH_UPS) throw error;
    }
  }
}

function overclaim(error: Mismatch): Mismatch {
  const [first = '', ...rest] = error.message.split('\n  ');
  return new Mismatch(`the run says that it caught up, and ${first}`, rest);
}

/** A dataset that there is not is an error to tell, never an empty copy. */
async function refuseUnknownDataset({ pipeline, io, world, lakePath }: Simulation): Promise<void> {
  if (world.habits.scope === 'all') return;
  const source = { ...pipeline.source, datasets: [1n, 99n] };
  const lake = { ...pipeline.lake, path: `${lakePath}-of-unknown` };
  const report = await syncWithWings({ ...pipeline, source, lake }, io).catch((error: unknown) => {
    if (error instanceof PricelakeError) return undefined;
    throw error;
  });
  if (report !== undefined) throw new Mismatch('a run copies a dataset that there is not', []);
}
