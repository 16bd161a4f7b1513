/** A world, its service and a lake beside it: rounds of change and runs, on a clock that the runs move on without waiting. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inspect } from 'node:util';
import { loadChecks } from '../../src/check/load.js';
import type { Pipeline } from '../../src/config/pipeline-file.js';
import { pipelineSchema } from '../../src/config/pipeline-schema.js';
import type { Io } from '../../src/io/io.js';
import { realIo } from '../../src/io/real-io.js';
import { openLake } from '../../src/lake/lake.js';
import type { RunReport } from '../../src/run/sync.js';
import { Database } from '../../src/sql/connection.js';
import { verifyLake } from '../../src/verify/verify-lake.js';
import type { Drift } from '../../src/wings/drift/list-drift.js';
import { syncWithWings } from '../../src/wings/index.js';
import { createSeeded } from '../seeded.js';
import {
  expectDatasets,
  expectHistory,
  expectItems,
  expectLedger,
  expectNoDoubles,
  expectNoFutureDays,
  expectProducts,
  expectSites,
  Mismatch,
  refuseItemsAhead,
} from './compare.js';
import { type Habits, largestLag, PLAIN } from './habits.js';
import { readLakeRows } from './lake-rows.js';
import { populate, step } from './life.js';
import { expectLosses, workThroughLosses } from './power-loss.js';
import { Script } from './script.js';
import { type Service, SIM_KEY, startService } from './service.js';
import { World } from './world.js';

export interface Simulation {
  world: World;
  service: Service;
  lakePath: string;
  pipeline: Pipeline;
  io: Io;
  /** Switches off what moves in the middle of runs. */
  still: boolean;
  sync(io?: Partial<Io>, signal?: AbortSignal): Promise<RunReport>;
  /** Compares the lake with the world; all of it, once nothing moves any more. `copiedAll`: by a complete copy since. */
  expectCopy(report: RunReport, settled: boolean, copiedAll?: boolean): Promise<void>;
  /** Verifies the lake: no proof fails, whatever the world did. */
  expectSound(): Promise<void>;
  close(): Promise<void>;
}

export interface SimulationOptions {
  seed: number;
  /** The others are plain. */
  habits?: Partial<Habits>;
  items?: number;
  partitionBy?: string[];
  /** The machine loses its power in the middle of runs, whose work comes in any order. */
  losesPower?: boolean;
  /** Changes the body of an answer. */
  change?: ((path: string, body: Buffer) => Buffer) | undefined;
  /** What happens, and what is left out. */
  script?: Script | undefined;
  /** The raw bytes of runs stay, for a rebuild. */
  keepsLanding?: boolean;
}

const OFF = { severity: 'off' } as const;
/** Checks that only inform take a fifth of a small run. */
const GATES_ALONE = Object.fromEntries(
  (await loadChecks()).filter(({ severity }) => severity !== 'gate').map(({ name }) => [name, OFF]),
);

export async function openSimulation(options: SimulationOptions): Promise<Simulation> {
  const { seed, items = 150, script = new Script({ seed }) } = options;
  // Unpacking takes a thread, whose time is not the seed's.
  const ordered = options.losesPower === true ? { gzip: false } : {};
  const world = new World(seed, { ...PLAIN, ...options.habits, ...ordered });
  const { habits } = world;
  world.isCopied = (item) => habits.scope === 'all' || item.datasets.length > 0;
  populate(world, items);
  const random = createSeeded(seed + 17);
  let moments = 0;
  const onMoment = () => {
    const name = `moment ${++moments}`;
    const own = script.draw(name);
    if (simulation.still || !habits.moving || own.fraction() < 0.5 || !script.takes(name)) return;
    world.random = own;
    for (let n = 0; n < 3; n++) step(world);
  };
  const losses = options.losesPower === true ? expectLosses(script) : undefined;
  const wait = losses === undefined ? undefined : (path: string) => losses.schedule.answer(path);
  const service = await startService(world, seed, { onMoment, change: options.change, wait });
  const folder = await mkdtemp(path.join(tmpdir(), 'pricelake-sim-'));
  const lakePath = path.join(folder, 'lake');
  const pipeline = makePipeline(service, lakePath, habits, options);
  const io = makeIo(world, random.fraction);
  const simulation: Simulation = {
    world,
    service,
    lakePath,
    pipeline,
    io,
    still: false,
    sync: async (given, signal) => {
      const run = (log: Io['log']) =>
        syncWithWings(pipeline, { ...io, ...given, log }, signal).catch((error: unknown) => {
          refuseCanary(error);
          throw error;
        });
      const log: Io['log'] = (level, event, facts) => {
        refuseCanary({ event, facts });
        if (event === 'committed') refuseItemsAhead(lakePath);
        (given?.log ?? io.log)(level, event, facts);
      };
      const report = await (losses === undefined ? run(log) : workThroughLosses(lakePath, losses, log, run));
      pipeline.source.mode = habits.mode === 'poll' && !habits.feed ? 'auto' : habits.mode;
      expectDrift(habits, report);
      return report;
    },
    expectCopy: (report, settled, copiedAll = false) => expectLake(simulation, report, settled, copiedAll),
    expectSound: () => expectSound(simulation),
    close: async () => {
      losses?.end();
      await service.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return simulation;
}

const OFFSET_MS = { same: 0, 'machine behind': -10_800_000, 'machine ahead': 10_800_000, 'no Date header': 0 };

/** The runs' clock is the world's, and a wait moves it on. */
function makeIo(world: World, random: () => number): Io {
  return {
    ...realIo,
    now: () => {
      world.now += 5_000_000n;
      return new Date(Number(world.now / 1_000_000n) + OFFSET_MS[world.habits.clock]);
    },
    sleep: async (ms) => {
      world.now += BigInt(Math.round(ms)) * 1_000_000n;
    },
    random,
  };
}

async function expectLake(simulation: Simulation, report: RunReport, settled: boolean, copiedAll: boolean) {
  const { world, service, lakePath } = simulation;
  const { habits } = world;
  const lake = await readLakeRows(lakePath);
  const cursor = report.row.cursor_to ?? 0n;
  const isPrompt = largestLag(habits) === 0;
  // Without the feed nothing tells how far a copy of a moving world has come; neither does a service that lags.
  // Nor do removals without a name and changes of unknown kinds, unless the run says that it has caught up.
  const isTold = (habits.removedItem === 'named' && habits.kinds === 'none') || report.row.caught_up;
  if (settled || (habits.feed && isPrompt && isTold && habits.pause === 0)) {
    const expected = settled ? null : cursor;
    expectItems(world, lake, { cursor: habits.feed ? cursor : expected, settled, withoutLeft: !copiedAll });
  }
  if (habits.history === 'feed' && habits.feed) {
    expectHistory(world, lake, service);
    if (settled) expectNoDoubles(world, lake, service);
  }
  expectProducts(lake);
  expectLedger(lake, { mayReject: habits.badRows !== 'none' });
  expectNoFutureDays(world, lake);
  if (!settled) return;
  expectSites(world, lake);
  if (report.published) expectDatasets(world, lake);
}

/** Neither a log nor an error may hold the key. */
function refuseCanary(said: unknown): void {
  if (inspect(said, { depth: 20, showHidden: true }).includes(SIM_KEY)) throw new Mismatch('the key is said', []);
}

/** No file of the lake may hold the key. */
function refuseKeptKey(lakePath: string): void {
  const names = (readdirSync(lakePath, { recursive: true }) as string[]).filter((name) => {
    const file = path.join(lakePath, name);
    return statSync(file).isFile() && readFileSync(file).includes(SIM_KEY);
  });
  if (names.length > 0) throw new Mismatch('files of the lake hold the key', names);
}

/** No proof of `verify` finds anything. */
export async function expectSound({ lakePath, io }: Pick<Simulation, 'lakePath' | 'io'>): Promise<void> {
  refuseKeptKey(lakePath);
  const db = await Database.open();
  try {
    const lake = await openLake(lakePath, { create: false });
    const proofs = await verifyLake(lake, db, { signal: new AbortController().signal }, io);
    const failed = proofs.filter(({ found }) => found > 0);
    if (failed.length === 0) return;
    const names = failed.map(({ name }) => name).join(', ');
    throw new Mismatch(
      `verify finds something on a lake that is right: ${names}`,
      failed.flatMap(({ name, findings }) => findings.map((finding) => `${name}: ${JSON.stringify(finding)}`)),
    );
  } finally {
    await db.close();
  }
}

function makePipeline(service: Service, lakePath: string, habits: Habits, options: SimulationOptions) {
  const { partitionBy, keepsLanding = false } = options;
  const tables = partitionBy === undefined ? {} : { items: { partitionBy } };
  const { history, format, splitAbove, scope } = habits;
  const datasets = scope === 'all' ? 'all' : [1, 2];
  const values = pipelineSchema.parse({
    name: 'sim',
    source: { baseUrl: service.baseUrl, apiKey: 'key', history, datasets, export: format, splitAbove },
    lake: { path: lakePath, tables },
    landing: { keep: keepsLanding ? '1000d' : 0 },
    analysis: { daily: habits.daily === 0 ? 0 : `${habits.daily}d` },
    // A ninth of an export's rows are more than the gate lets through.
    checks: { ...GATES_ALONE, ...(habits.badRows === 'none' ? {} : { rejects_many: OFF }) },
    // Only a sample shows that changes leave out values.
    proof: { sample: habits.namedValues === 'all of them' ? 2 : 100, products: true },
  });
  return { ...values, file: 'sim.yaml', source: { ...values.source, apiKey: SIM_KEY } };
}

/** No field is of another type than the document says, and none is unknown where the service adds none. */
function expectDrift({ unknownFields, fraction, kinds, badRows, planStatus }: Habits, { row }: RunReport): void {
  const found = (JSON.parse(row.schema_drift) as Drift[]).filter(({ finding, field }) => {
    if (finding === 'unknown') return !unknownFields;
    if (finding === 'precision') return fraction < 9;
    if (finding === 'value') return field === 'status' ? planStatus === 'listed' : field !== 'kind' || kinds === 'none';
    return finding === 'type' && field !== 'item.title' && !(field === 'kind' && badRows === 'in the feed');
  });
  if (found.length > 0)
    throw new Mismatch(
      'the schema drifts',
      found.map((drift) => JSON.stringify(drift)),
    );
}
