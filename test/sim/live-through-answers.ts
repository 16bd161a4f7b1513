/**
 * The life of a lake whose service now and then gives an answer that the document does not allow. What must hold:
 * - A run ends, or stops with an error that has a code and names the place: an address, a file or a table. Nothing else
 *   is ever thrown.
 * - Such an answer stops no later run: once the service is as the document says, runs end again, or the error says what
 *   to do, and doing that helps.
 * - The row equation holds, and `verify` finds nothing.
 */
import { PricelakeError } from '../../src/io/errors.js';
import { changeAnswer } from './change-answer.js';
import { Mismatch } from './compare.js';
import { type HabitName, type Habits, PLAIN } from './habits.js';
import { step } from './life.js';
import type { Life } from './live-through.js';
import { Script } from './script.js';
import { openSimulation, type Simulation } from './simulation.js';

/** Habits that decide what answers look like. */
const HABITS: HabitName[] = [
  'feed',
  'ids',
  'format',
  'shape',
  'csvLists',
  'csvQuotes',
  'pretty',
  'splitAbove',
  'scope',
  'mode',
  'nullsLeftOut',
];
const ROUNDS = 5;
const MOST_ITEMS = 16;
/** A run is asked again so often, as a scheduler would. */
const TRIES = 3;

/** @throws Mismatch when an answer leads to an internal error, stops later runs or leaves a lake that is not sound */
export async function liveThroughAnswers(life: Life, script = new Script(life)): Promise<void> {
  const { seed, habits, items } = life;
  let random = script.draw('');
  const changes: string[] = [];
  let left = Number.POSITIVE_INFINITY;
  const change = (path: string, body: Buffer): Buffer => {
    if (left-- !== 0) return body;
    const changed = changeAnswer(body, random);
    changes.push(`${path}: ${changed.what}`);
    script.faults.push(`${changed.what.split(' ', 1)} of ${path.replaceAll(/\d+/g, '{id}')}`);
    return changed.body;
  };
  const simulation = await openSimulation({
    seed,
    habits: chooseHabits(habits),
    items: Math.min(items, MOST_ITEMS),
    change,
  });
  try {
    for (let round = 0; round < ROUNDS; round++) {
      random = script.draw(`round ${round}`);
      simulation.world.random = script.draw(`steps ${round}`);
      if (!script.takes(`round ${round}`)) continue;
      left = random.integer(round === 0 ? 8 : 14);
      await attempt(simulation, changes);
      left = Number.POSITIVE_INFINITY;
      move(simulation);
      await endAgain(simulation, changes);
      await simulation.expectSound();
      move(simulation);
    }
  } catch (error) {
    if (error instanceof Error) error.message += `\n  ${changes.join('\n  ')}`;
    throw error;
  } finally {
    await simulation.close();
  }
}

function chooseHabits(habits: Partial<Habits>): Habits {
  return { ...PLAIN, ...Object.fromEntries(HABITS.map((name) => [name, habits[name] ?? PLAIN[name]])) };
}

function move({ world }: Simulation): void {
  for (let n = 0; n < 6; n++) step(world);
  world.settle();
}

/** A run. An error is one of ours, and says where. */
async function attempt(simulation: Simulation, changes: readonly string[]): Promise<PricelakeError | undefined> {
  try {
    await simulation.sync();
    return undefined;
  } catch (error) {
    if (error instanceof Mismatch && error.message.startsWith('the schema drifts')) return undefined;
    if (!(error instanceof PricelakeError)) throw error;
    if (!PLACE.test(error.message))
      throw new Mismatch('an error does not say where', [`${error.code}: ${error.message}`, ...changes]);
    return error;
  }
}

/** An address of the service, a file, or a table. */
const PLACE = /\/api\/v1\/|\/_pricelake\/|\.ndjson|\.csv|\/lake\b|dataset|run \d|feed|changes|export|items/;

async function endAgain(simulation: Simulation, changes: readonly string[]): Promise<void> {
  const errors: string[] = [];
  for (let tries = 1; tries <= TRIES; tries++) {
    const error = await attempt(simulation, changes);
    if (error === undefined) return;
    errors.push(`${error.code}: ${error.message} (${error.facts.hint})`);
    if (error.code === 'gate_failed') return;
    simulation.world.settle(3600);
  }
  throw new Mismatch('an answer stops all later runs', [...errors, ...changes]);
}
