/**
 * The life of a lake of which one file is damaged behind its back, several times from the same state: building a lake
 * takes longer than a damage and its repair. What must hold, in plain words:
 * - Found: `verify` finds the damage.
 * - Never published: the next run stops with an error that names a file of the lake and the next step, or what it
 *   publishes is the truth.
 * - Repaired: whoever does what the errors advise has, within a few steps, a lake that is the truth again, and of which
 *   `verify` finds nothing. Rows of history may be lost only where a command has said so.
 */
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import { PricelakeError } from '../../src/io/errors.js';
import { openDamagedLake } from '../../src/lake/damaged-lake.js';
import { Database } from '../../src/sql/connection.js';
import { verifyLake } from '../../src/verify/verify-lake.js';
import { rebuildWithWings } from '../../src/wings/index.js';
import { Mismatch } from './compare.js';
import { type Damage, damageLake, type FileKind } from './damage.js';
import { type HabitName, type Habits, PLAIN } from './habits.js';
import { renameSite, step } from './life.js';
import { catchUp, type Life } from './live-through.js';
import { Script } from './script.js';
import { openSimulation, type Simulation } from './simulation.js';

/** Habits that decide which files a lake has. The service is prompt and refuses nothing: else no advice could be followed. */
const HABITS: HabitName[] = [
  'ids',
  'format',
  'daily',
  'splitAbove',
  'gzip',
  'scope',
  'badRows',
  'shape',
  'removedItem',
];
/** Readers can do without the pointer to a checkpoint, and another program may have written it. */
const UNPROVED: FileKind = 'last checkpoint';
const DAMAGES = 8;
const MOST_ITEMS = 12;
const EVENTS_A_RUN = 8;
/** A checkpoint comes with each tenth version of a table. */
const MANY_RUNS = 11;
const MOST_STEPS = 6;

/** Said to be beyond repair: a new copy has no older history, so nothing more is asked. */
const BEYOND = 'new copy';

/** @throws Mismatch when damage is not found, is published, or can't be repaired as advised, or whatever a run throws */
export async function liveThroughDamage(life: Life, script = new Script(life)): Promise<void> {
  const { seed, habits, items } = life;
  const options = { seed, habits: chooseHabits(habits), items: Math.min(items, MOST_ITEMS), keepsLanding: true };
  const simulation = await openSimulation(options);
  const { lakePath } = simulation;
  const saved = `${lakePath}-saved`;
  try {
    await buildLake(simulation, script);
    cpSync(lakePath, saved, COPY);
    for (let round = 1; round <= DAMAGES; round++) {
      const random = script.draw(`round ${round}`);
      if (!script.takes(`round ${round}`)) continue;
      rmSync(lakePath, { recursive: true });
      cpSync(saved, lakePath, COPY);
      if (random.fraction() < 0.5) await stopRun(simulation, 1 + random.integer(12));
      const damage = damageLake(lakePath, random);
      const steps: string[] = [];
      await repair(simulation, damage, steps).catch((error: unknown) => {
        if (error instanceof Error) error.message += `\n  after ${damage.what}: ${steps.join(', ')}`;
        throw error;
      });
      script.faults.push(
        `${damage.fault} of ${damage.kind}${steps.includes(BEYOND) ? ', said to be beyond repair' : ''}`,
      );
    }
  } finally {
    await simulation.close();
  }
}

const COPY = { recursive: true, preserveTimestamps: true };

/** Some runs, or many. What happens after the last one is news for the runs after a damage. */
async function buildLake(simulation: Simulation, script: Script): Promise<void> {
  const random = script.draw('runs');
  await simulation.sync();
  for (let left = random.fraction() < 0.5 ? MANY_RUNS : 1 + random.integer(3); left > 0; left--) {
    simulation.world.random = script.draw(`steps ${left}`);
    move(simulation, left);
    await simulation.sync();
  }
  await simulation.expectSound();
  move(simulation, 0);
  simulation.still = true;
}

function chooseHabits(habits: Partial<Habits>): Habits {
  return { ...PLAIN, ...Object.fromEntries(HABITS.map((name) => [name, habits[name] ?? PLAIN[name]])) };
}

function move({ world }: Simulation, run: number): void {
  for (let n = 0; n < EVENTS_A_RUN; n++) step(world);
  renameSite(world, run);
  world.settle();
}

/** A run that stops at its nth step leaves its landing, or some tables committed. */
async function stopRun(simulation: Simulation, stopAt: number): Promise<void> {
  let steps = 0;
  const stop = new AbortController();
  const log = (_level: string, event: string) => {
    if (['landed', 'settled', 'staged', 'committed'].includes(event) && ++steps === stopAt)
      stop.abort(new Error('stopped'));
  };
  await simulation.sync({ log }, stop.signal).catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
}

async function repair(simulation: Simulation, damage: Damage, steps: string[]): Promise<void> {
  const { lakePath, pipeline, io } = simulation;
  const found = await verify(simulation);
  steps.push(found.length === 0 ? 'not found' : `found by ${found.join(' and ')}`);
  if (found.length === 0 && damage.kind !== UNPROVED)
    throw new Mismatch(`verify does not find the ${damage.fault} of a ${damage.kind}`, []);
  const { signal } = new AbortController();
  const actions: Record<string, () => Promise<void>> = {
    sync: () => catchUp(simulation, false),
    rebuild: async () => void (await rebuildWithWings(pipeline, io, signal)),
    'rebuild --accept-loss': async () => void (await rebuildWithWings(pipeline, io, signal, { acceptLoss: true })),
    reconcile: async () => {
      pipeline.source.mode = 'snapshot';
      await simulation.sync();
    },
    'move away': async () => rmSync(path.join(lakePath, nameMoved(damage)), { recursive: true }),
  };
  let next = 'sync';
  const tried = new Set<string>();
  const hints: string[] = [];
  while (steps.length <= MOST_STEPS) {
    if (next === BEYOND) {
      steps.push(BEYOND);
      return;
    }
    const error = await (actions[next] as () => Promise<void>)().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    steps.push(error instanceof PricelakeError ? `${next} (${error.code}: ${error.message})` : next);
    if (error !== undefined && !(error instanceof PricelakeError)) throw error;
    tried.add(next);
    if (error !== undefined) next = readAdvice(error, hints, tried);
    else if (next !== 'sync') next = 'sync';
    else {
      const left = await verify(simulation);
      if (left.length === 0) return;
      // What verify advises: raw bytes of a published run are of use to a rebuild alone.
      next = left.join() === 'landing' ? 'move away' : 'rebuild';
    }
  }
  throw new Mismatch(`advice leads nowhere after the ${damage.fault} of a ${damage.kind}`, steps);
}

/** The folder of a run, or the memory itself. */
function nameMoved({ file, kind }: Damage): string {
  return kind === 'memory' ? file : path.dirname(file);
}

/** The first step that the errors so far advise and that has not been tried. */
function readAdvice(error: PricelakeError, hints: string[], tried: ReadonlySet<string>): string {
  hints.push(error.facts.hint ?? '');
  const advice: [RegExp, string][] = [
    [/Move (this run's folder|its folder|the file|it) away/, 'move away'],
    [/--accept-loss/, 'rebuild --accept-loss'],
    [/sync --reconcile/, 'reconcile'],
    [/lake rebuild/, 'rebuild'],
    [/makes a new copy/, BEYOND],
    [/pricelake sync|same command/, 'sync'],
  ];
  const next = advice.find(([text, action]) => text.test(hints.join(' ')) && !tried.has(action))?.[1];
  if (next === undefined)
    throw new Mismatch(`an error after damage has no advice: ${error.code}`, [error.message, ...hints]);
  return next;
}

/** Names of the proofs that fail. */
async function verify({ lakePath, io }: Simulation): Promise<string[]> {
  const db = await Database.open();
  try {
    const { lake } = await openDamagedLake(lakePath);
    const proofs = await verifyLake(lake, db, { signal: new AbortController().signal }, io);
    return proofs.filter(({ found }) => found > 0).map(({ name }) => name);
  } finally {
    await db.close();
  }
}
