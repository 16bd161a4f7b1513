/** A world, its service and a lake beside it: rounds of change and runs, with a clock that does not wait. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'vitest';
import type { Drift } from '../../src/drift/list-drift.js';
import { Database } from '../../src/duckdb/connection.js';
import { type Io, realIo } from '../../src/io.js';
import { openLake } from '../../src/lake/lake.js';
import type { Pipeline } from '../../src/pipeline/pipeline-file.js';
import { pipelineSchema } from '../../src/pipeline/pipeline-schema.js';
import { type RunReport, syncPipeline } from '../../src/pipeline/sync.js';
import { verifyLake } from '../../src/verify/verify-lake.js';
import { GATES_ALONE } from '../pipeline/world.js';
import { createSeeded } from '../seeded.js';
import { expectDatasets, expectHistory, expectItems, expectLedger, expectProducts, expectSites } from './compare.js';
import { DATASETS } from './endpoints.js';
import { drawHabits, type Habits } from './habits.js';
import { readLakeRows } from './lake-rows.js';
import { populate, step } from './life.js';
import { type Service, SIM_KEY, startService } from './service.js';
import { World } from './world.js';

export interface Simulation {
  world: World;
  service: Service;
  lakePath: string;
  /** Switches off what moves in the middle of runs. */
  still: boolean;
  sync(io?: Partial<Io>, signal?: AbortSignal): Promise<RunReport>;
  /** Compares the lake with the world; all of it, once nothing moves any more. */
  expectCopy(report: RunReport, settled: boolean): Promise<void>;
  /** Verifies the lake: no proof fails, whatever the world did. */
  expectSound(): Promise<void>;
  close(): Promise<void>;
}

export interface SimulationOptions {
  seed: number;
  habits?: Partial<Habits>;
  items?: number;
  history?: 'feed' | 'none';
  partitionBy?: string[];
  /** Mode of the runs after the first. */
  mode?: Pipeline['source']['mode'];
  /** Ids of the datasets that are copied; default all. */
  datasets?: number[];
}

export async function openSimulation(options: SimulationOptions): Promise<Simulation> {
  const { seed, items = 150, history = 'feed' } = options;
  const random = createSeeded(seed * 7919);
  const world = new World(seed, drawHabits(random, options.habits));
  const names = options.datasets?.map((id) => DATASETS[id - 1]);
  world.isCopied = (item) => names === undefined || item.datasets.some((name) => names.includes(name));
  populate(world, items);
  const onMoment = () => {
    if (simulation.still || !world.habits.moving || random.fraction() < 0.5) return;
    for (let n = 0; n < 3; n++) step(world);
  };
  const service = await startService(world, seed, { onMoment });
  const folder = await mkdtemp(path.join(tmpdir(), 'pricelake-sim-'));
  const lakePath = path.join(folder, 'lake');
  const pipeline = makePipeline(service, lakePath, history, options);
  let clock = Date.UTC(2026, 10, 20, 9);
  const io: Io = {
    ...realIo,
    now: () => {
      clock += 5;
      return new Date(clock);
    },
    sleep: async (ms) => {
      clock += ms;
    },
    random: random.fraction,
  };
  const simulation: Simulation = {
    world,
    service,
    lakePath,
    still: false,
    sync: async (given, signal) => {
      const report = await syncPipeline(pipeline, { ...io, ...given }, signal);
      pipeline.source.mode = options.mode ?? 'auto';
      expectDrift(world.habits, report);
      if (!world.habits.moving) expect(report.row.facet_differences).toBe('[]');
      return report;
    },
    expectCopy: async (report, settled) => {
      const lake = await readLakeRows(lakePath);
      const cursor = report.row.cursor_to ?? 0n;
      // Without the feed nothing tells how far a copy of a moving world has come.
      if (world.habits.feed || settled) expectItems(world, lake, world.habits.feed ? cursor : null, settled);
      if (history === 'feed' && world.habits.feed) expectHistory(world, lake, cursor);
      expectProducts(lake);
      expectLedger(lake);
      if (!settled) return;
      expectSites(world, lake);
      if (report.published) expectDatasets(world, lake);
    },
    expectSound: async () => {
      const db = await Database.open();
      const lake = await openLake(lakePath, { create: false });
      const proofs = await verifyLake(lake, db, { signal: new AbortController().signal }, io);
      db.close();
      expect(proofs.filter(({ found }) => found > 0)).toEqual([]);
    },
    close: async () => {
      await service.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return simulation;
}

function makePipeline(
  service: Service,
  lakePath: string,
  history: 'feed' | 'none',
  { partitionBy, datasets }: SimulationOptions,
): Pipeline {
  const tables = partitionBy === undefined ? {} : { items: { partitionBy } };
  const source = { baseUrl: service.baseUrl, apiKey: 'key', history, datasets };
  const values = pipelineSchema.parse({
    name: 'sim',
    source,
    lake: { path: lakePath, tables },
    landing: { keep: 0 },
    checks: GATES_ALONE,
    proof: { sample: 5, products: true },
  });
  return { ...values, file: 'sim.yaml', source: { ...values.source, apiKey: SIM_KEY } };
}

/** The schema drifts where the service's habits depart from the document, and nowhere else. */
function expectDrift({ unknownFields, nullsLeftOut, fraction }: Habits, { row }: RunReport): void {
  const found = (JSON.parse(row.schema_drift) as Drift[]).filter(({ finding }) => {
    if (finding === 'unknown') return !unknownFields;
    if (finding === 'precision') return fraction < 9;
    return finding === 'type' || nullsLeftOut === 'nowhere';
  });
  expect(found).toEqual([]);
}
