import { createClient } from '../../api/client.js';
import { TypingQueue } from '../../apply/typing-queue.js';
import type { Pipeline } from '../../config/pipeline-file.js';
import { PricelakeError } from '../../io/errors.js';
import type { Io } from '../../io/io.js';
import { type LandedRun, peekUnfinishedRun } from '../../journal/landings.js';
import { readMemory } from '../../journal/memory.js';
import { hasAsked, RUN_FOLD, readSelection } from '../../journal/run-state.js';
import { findLake } from '../../lake/lake.js';
import { openSession } from '../../lake/session.js';
import { LakeRows } from '../../lake/table-rows.js';
import { type Allowance, countLeft, type RunCaps } from '../../plan/allowance.js';
import type { ModeChoice } from '../../plan/decide-mode.js';
import { countRest, countSeconds, estimateSteps, type Step, sumSteps, type Total } from '../../plan/estimate.js';
import { countOverage } from '../../plan/export-allowance.js';
import { openPlan, type SeenPlan } from '../../source/read-plan.js';
import { RelationGraph } from '../../sql/graph.js';
import { refuseNarrowing } from '../open/dataset-selection.js';
import { planRepairs, readTables } from '../open/open-tables.js';
import type { EstimateSource } from './estimate-reads.js';
import { priceNothing, pricePlan } from './estimate-steps.js';
import { RunPlanner } from './run-planner.js';

/** The next run's work and cost. */
export interface RunEstimate extends ModeChoice, Total {
  /** The interrupted or held run that it would continue. */
  unfinished: { runId: string; held: string[] } | undefined;
  steps: Step[];
  /** Most blocks of overage that it would have billed. */
  overageBlocks: bigint;
  /** Time of its calls at the plan's rate; undefined if the rate is unlimited. */
  seconds: number | undefined;
  /** Allowance of the run. A missing figure is unlimited. */
  allowed: { calls?: bigint; exportRows?: bigint };
  /** Allowance left after the run, until `resetsAt`. */
  rest: { calls?: bigint; exportRows?: bigint };
  resetsAt: Date | undefined;
  plan: Pick<SeenPlan, 'plan' | 'name' | 'status'>;
  /** Calls that the estimate itself made. */
  looked: number;
  /** Reason why the run would be refused, or stop before its end. */
  refusal: PricelakeError | undefined;
}

/**
 * Plans the next run as the run itself would, and prices it. Makes at most seven calls, and some more for each dataset
 * of a list. Writes nothing and takes no lock.
 */
export async function estimateRun(
  pipeline: Pipeline,
  io: Io,
  { signal, caps = {} }: { signal?: AbortSignal; caps?: RunCaps } = {},
): Promise<RunEstimate> {
  const { baseUrl, apiKey } = pipeline.source;
  const lake = await findLake(pipeline.lake.path);
  const stop = signal === undefined ? {} : { signal };
  const client = createClient({ baseUrl, apiKey, ...stop }, io);
  const session = await openSession({ hasModels: true, signal, memoryLimit: pipeline.lake.memory });
  const { db, workFolder } = session;
  try {
    const tables = await readTables(lake);
    const unfinished = await peekUnfinishedRun(lake.root, tables.runs.applied.run ?? 0n);
    const typing = new TypingQueue(db, { runId: 'plan', workFolder });
    const repairs = await planRepairs(lake, Object.values(tables), pipeline);
    const state = unfinished?.state ?? RUN_FOLD.start;
    refuseNarrowing(pipeline, tables.items, state);
    const selection = hasAsked(state) ? readSelection(state.begin) : pipeline.source.datasets;
    // Only a run writes to the memory.
    const memory = { state: await readMemory(lake), append: async () => {} };
    const journal = { state };
    const graph = new RelationGraph(db);
    const before = new LakeRows(graph, lake, tables, () => 0n);
    const opened = { pipeline, selection, caps, io, lake, graph, before, client, typing, tables, workFolder, memory };
    return await estimate({ ...opened, repairs, journal, isAtWork: false }, unfinished);
  } finally {
    await client.close();
    await session.close();
  }
}

async function estimate(source: EstimateSource, unfinished: LandedRun | undefined): Promise<RunEstimate> {
  const { client } = source;
  const { state } = source.journal;
  const planned = await openPlan(source, state);
  const { plan, gate } = planned;
  const allowed = gate.left();
  // A run that is held, or that has made its calls, does not ask for the plan.
  const isLanded = state.usage.after !== undefined || state.stage === 'held';
  const planner = await RunPlanner.open(source, Promise.resolve(isLanded ? undefined : planned));
  const priced = isLanded ? await priceNothing(planner) : await pricePlan(source, planned, planner);
  const steps = estimateSteps(priced.ahead);
  const total = sumSteps(steps);
  const looked = client.calls();
  const { mode, reason, added } = priced.plan.decision;
  return {
    ...{ mode, reason, ...(added === undefined ? {} : { added }) },
    ...total,
    unfinished: unfinished && { runId: unfinished.runId, held: state.stage === 'held' ? [...state.checks] : [] },
    steps,
    overageBlocks: countOverage(allowed, total.exportRows),
    seconds: countSeconds(total.calls, plan.limits.ratePerSecond ?? null),
    allowed: countRest(allowed, { calls: looked - 1, exportRows: 0n }),
    rest: countRest(allowed, { calls: looked - 1 + total.calls, exportRows: total.exportRows }),
    resetsAt: allowed.resetsAt,
    plan: { plan: plan.plan, name: plan.name, status: plan.status },
    looked,
    refusal: priced.refusal ?? findShortage(allowed, total, looked),
  };
}

/** Too few calls stop the run before its end. */
function findShortage({ calls: bound, resetsAt }: Allowance, total: Total, looked: number): PricelakeError | undefined {
  if (bound === undefined) return undefined;
  const left = countLeft(bound) - BigInt(looked - 1);
  if (left >= BigInt(total.calls)) return undefined;
  const about = total.exact ? '' : 'about ';
  return new PricelakeError(
    bound.rule === 'apiCallsPerMonth' ? 'quota' : 'budget',
    `the run takes ${about}${total.calls} calls, and ${bound.rule} leaves ${left < 0n ? 0n : left} of ${bound.allowed}`,
    {
      rule: bound.rule,
      wanted: total.calls,
      ...(resetsAt === undefined ? {} : { nextRunAt: resetsAt }),
      hint: '`pricelake sync` lands what it can, keeps it, and continues when there are calls again.',
    },
  );
}
