import type { Pipeline } from '../config/pipeline.js';
import type { Io } from '../io/io.js';
import { explainDamage } from '../lake/damage.js';
import { explainSystemFault } from '../lake/system-faults.js';
import { type EstimateOptions, estimateRun, type RunEstimate } from '../run/estimate/estimate-run.js';
import { type LandReport, landPipeline } from '../run/land-pipeline.js';
import type { Deriver, Store, Wings } from '../run/open/wings.js';
import { rebuildLake } from '../run/rebuild/rebuild.js';
import { type SyncOptions, syncPipeline } from '../run/sync.js';
import * as list from './list.js';
import type { SyncReport, Wing } from './wing.js';

export type { SyncReport } from './wing.js';

const WINGS: readonly Wing[] = Object.values(list);
export const MIRRORED = WINGS.flatMap(({ mirrored = [] }) => mirrored);
const PLUGGED: Wings = {
  sources: WINGS.flatMap(({ sources = [] }) => sources),
  witnesses: WINGS.flatMap(({ witnesses = [] }) => witnesses),
  derivers: orderDerivers(WINGS.flatMap(({ derivers = [] }) => derivers)),
  upkeep: WINGS.flatMap(({ upkeep = [] }) => upkeep),
  mendLanding: WINGS.find(({ mendLanding }) => mendLanding !== undefined)?.mendLanding,
  listing: WINGS.find(({ listing }) => listing !== undefined)?.listing,
  probe: WINGS.find(({ probe }) => probe !== undefined)?.probe,
  audit: WINGS.find(({ audit }) => audit !== undefined)?.audit,
};

/** Sorts the modules that compute tables. Each module follows the modules that compute the tables that it reads. */
function orderDerivers(left: readonly Deriver[]): Deriver[] {
  const isFree = ({ reads = [] }: Deriver) => !left.some(({ tables }) => tables.some((table) => reads.includes(table)));
  const first = left.find(isFree);
  return first === undefined ? [...left] : [first, ...orderDerivers(left.filter((one) => one !== first))];
}

/**
 * Runs `syncPipeline` with the optional modules.
 * @throws PricelakeError with any code that `syncPipeline` or a module throws
 */
export function syncWithWings(
  pipeline: Pipeline,
  io: Io,
  signal?: AbortSignal,
  options: SyncOptions = {},
): Promise<SyncReport> {
  return withWings(pipeline, io, signal, (wings, stop) => {
    const asked = { pipeline, io, signal: stop, options, store: wings.store };
    const run = (): Promise<SyncReport> => syncPipeline(pipeline, io, stop, { ...options, wings });
    return WINGS.reduce((inner, { surround }) => (surround ? () => surround(asked, inner) : inner), run)();
  });
}

/** Runs `landPipeline` with the optional modules. @throws PricelakeError with the same codes as `landPipeline` */
export function landWithWings(
  pipeline: Pipeline,
  io: Io,
  signal?: AbortSignal,
  options: Pick<SyncOptions, 'deadline' | 'connect' | 'caps'> = {},
): Promise<LandReport> {
  return withWings(pipeline, io, signal, (wings, stop) => landPipeline(pipeline, io, stop, { ...options, wings }));
}

export function estimateWithWings(pipeline: Pipeline, io: Io, options: EstimateOptions = {}): Promise<RunEstimate> {
  return estimateRun(pipeline, io, { ...options, wings: PLUGGED });
}

/** Rebuilds all tables, including those of optional modules. @throws PricelakeError like `rebuildLake` */
export function rebuildWithWings(
  pipeline: Pipeline,
  io: Io,
  signal: AbortSignal,
  options: { acceptLoss?: boolean | undefined } = {},
): ReturnType<typeof rebuildLake> {
  return rebuildLake(pipeline, io, signal, { ...options, wings: PLUGGED });
}

/** Runs `work` with the optional modules. If the lake has a remote, `work` also receives the store of the remote. */
export function withWings<T>(
  { lake }: Pick<Pipeline, 'lake'>,
  io: Io,
  signal: AbortSignal | undefined,
  work: (wings: Wings, stop: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  const plug = (store: Store | undefined, stop: AbortSignal | undefined) => work({ ...PLUGGED, store }, stop);
  const hold = WINGS.find(({ holdStore }) => holdStore !== undefined)?.holdStore;
  return explainSystemFault(lake.path, () =>
    explainDamage(lake.path, () =>
      hold === undefined ? plug(undefined, signal) : hold(lake, io, signal, plug, MIRRORED),
    ),
  );
}
