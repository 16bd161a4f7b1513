import { type DatasetEntry, maskOf, SAMPLE_DATASET } from '../catalog/datasets.js';
import { fraction } from '../catalog/shops.js';
import { FEED_DELAY_MS, type SimulatedClock } from '../clock.js';
import type { FaultPlan } from '../faults/fault.js';
import type { Plan } from '../plans.js';
import type { Readings } from '../readings/readings.js';
import { MAX_LAG, type ReadingValue } from '../readings/registry.js';
import type { ItemView } from '../world/item-view.js';
import type { Moment } from '../world/past-sql.js';
import type { World } from '../world/world.js';
import type { Account, KeyKind } from './account.js';
import { ApiError, refuseByLimit, refuseParameter } from './answers.js';
import type { Parameters } from './parameters.js';

export interface Service {
  world: World;
  clock: SimulatedClock;
  account: Account;
  faults: FaultPlan;
  readings: Readings;
}

export interface Caller {
  kind: KeyKind;
  plan: Plan;
  view: ItemView;
  /** The datasets that the plan doesn't include. Requests for them return 402. */
  locked: readonly DatasetEntry[];
}

export interface SandboxEnv {
  /** `midExport` is called halfway through the rows of an export, so that a fault can change the data at that point. */
  Bindings: { midExport?: () => Promise<void> };
  Variables: { caller: Caller; parameters: Parameters };
}

/** The caller and the parameters of an admitted request. */
export type Asked = SandboxEnv['Variables'];

/**
 * Determines what a key can read: for a test key, the sample dataset; for any other key, the plan's datasets (API §5).
 */
export function buildCaller(service: Service, kind: KeyKind): Caller {
  const { world, account } = service;
  const { plan } = account;
  if (kind === 'test') return { kind, plan, view: world.view([SAMPLE_DATASET]), locked: [] };
  const included = plan.limits.datasets ?? world.facts.datasets.length;
  return {
    kind,
    plan,
    view: world.view(world.facts.datasets.slice(0, included)),
    locked: world.facts.datasets.slice(included),
  };
}

/**
 * Returns the mask of the requested dataset, or of all datasets that the caller can read.
 * @param missing how to respond if the caller can't read the requested dataset
 */
export function chooseDatasets({ caller, parameters }: Asked, missing: ReadingValue<'unknownDataset'>): number {
  const id = parameters.int64('dataset');
  if (id === null) return caller.view.mask;
  const isWanted = (dataset: DatasetEntry) => BigInt(dataset.id) === id;
  const dataset = caller.view.datasets.find(isWanted);
  if (dataset !== undefined) return maskOf([dataset]);
  if (caller.locked.some(isWanted)) {
    const { plan } = caller;
    const message = `Dataset ${id} is not one of the ${plan.limits.datasets} datasets that the ${plan.name} plan includes.`;
    throw refuseByLimit(402, plan, 'datasets', message);
  }
  if (missing === 'empty') return 0;
  if (missing === '404') throw new ApiError(404, `You have no dataset ${id}.`);
  throw refuseParameter('dataset', String(id), 'an id from /datasets');
}

/**
 * Returns the time up to which the feed shows changes, in microseconds since 1970. Newer changes are not visible yet.
 */
export function feedEnd(service: Service): number {
  return (service.clock.now() - FEED_DELAY_MS) * 1000;
}

/** Returns the start of the plan's change history in microseconds since 1970; 0 if it is unlimited. */
export function historyStart(service: Service, caller: Caller): number {
  const days = caller.plan.limits.historyDays;
  return days === null ? 0 : (service.clock.now() - days * 86_400_000) * 1000;
}

const answered = new WeakMap<Service, number>();

/**
 * Returns the moment whose data a response shows: null for the present, or a past moment if responses are configured to
 * lag.
 */
export function chooseMoment(service: Service, kind: 'lists' | 'exports' | 'facets' | 'products' | 'items'): Moment {
  const { readings, world } = service;
  const [lag, replicas] = [readings.get(`lag.${kind}`), readings.get('replicas')];
  if (lag + replicas === 0) return null;
  const answers = (answered.get(service) ?? 0) + 1;
  answered.set(service, answers);
  const behind = Math.min(MAX_LAG, lag + replicas * fraction(world.facts.seed, answers, 'replica'));
  return Math.max(world.keepPast(), Math.floor(feedEnd(service) - behind * 1e6));
}
