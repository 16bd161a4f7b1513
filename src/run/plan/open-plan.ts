import { PricelakeError } from '../../io/errors.js';
import { readBegin } from '../../journal/landings.js';
import { isComplete, readSelection } from '../../journal/run-state.js';
import { NO_EXPORTS, type RunCaps } from '../../plan/allowance.js';
import { openExportMemory } from '../../plan/broken-exports.js';
import { ExportGate } from '../../plan/export-gate.js';
import type { RelationGraph } from '../../sql/graph.js';
import { type Account, readAccount } from '../open/account.js';
import type { FoundLake, Ledger, World } from '../open/run-parts.js';
import { RunPlanner } from './run-planner.js';

export interface PlannedRun {
  planner: RunPlanner;
  /** The account; undefined if the run makes no more calls. */
  account: Account | undefined;
  gate: ExportGate;
}

export async function openPlan(
  world: World,
  found: FoundLake,
  ledger: Ledger,
  graph: RelationGraph,
  caps: RunCaps,
): Promise<PlannedRun> {
  const { landing, memory } = ledger;
  const { journal } = landing;
  const reading = readAccountOfRun(world, found, ledger, caps);
  const selection = readSelection(readBegin(landing));
  const source = { ...world, ...found, memory, journal, selection, graph, isAtWork: true };
  const planner = await RunPlanner.open(source, reading);
  const account = await reading;
  if (account !== undefined) world.look('/plan', { status: account.plan.status ?? null });
  const gate =
    account?.gate ??
    new ExportGate(NO_EXPORTS, world.io, openExportMemory(memory, world.io, found.pipeline.source.export));
  return { planner, account, gate };
}

/**
 * Reads the account. Returns undefined if the run has made all its calls. If the request fails after all data has
 * landed, returns undefined too. The run then publishes without comparing its data with the service.
 */
async function readAccountOfRun(
  world: World,
  { pipeline }: FoundLake,
  ledger: Ledger,
  caps: RunCaps,
): Promise<Account | undefined> {
  const { client } = world;
  const { state } = ledger.landing.journal;
  const read = () => readAccount({ ...world, ...ledger, pipeline, caps });
  if (!isComplete(state)) return read();
  const makeNoCall = (reason: string) => {
    client.setCallLimit(0, () => new PricelakeError('budget', `the run has downloaded all its data; ${reason}`));
    return undefined;
  };
  if (state.usage.after !== undefined) return makeNoCall('it makes no more calls');
  return read().catch((error: unknown) => {
    if (!(error instanceof PricelakeError) || ['stopped', 'deadline'].includes(error.code)) throw error;
    return makeNoCall(error.message);
  });
}
