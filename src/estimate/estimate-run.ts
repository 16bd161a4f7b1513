import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { hasFeed, openPlan, type PlannedRun, type SeenPlan } from '../account/read-plan.js';
import { createClient } from '../api/client.js';
import type { Pipeline } from '../config/pipeline-file.js';
import { Database } from '../duckdb/connection.js';
import { createMacros } from '../duckdb/model-sql.js';
import { PricelakeError } from '../errors/errors.js';
import type { Io } from '../io/io.js';
import { findLake } from '../lake/lake.js';
import { createTableViews } from '../lake/views.js';
import { type LandedRun, peekUnfinishedRun } from '../landing/landing.js';
import { type Allowance, countLeft, type RunCaps } from '../plan/allowance.js';
import type { ModeChoice } from '../plan/choose-mode.js';
import { countRest, countSeconds, estimateSteps, type Step, sumSteps, type Total } from '../plan/estimate.js';
import { countOverage } from '../plan/export-allowance.js';
import { hasAsked, readRunSelection, refuseNarrowing } from '../run/dataset-selection.js';
import { readTables } from '../run/open-run.js';
import { chooseRunMode } from '../sync/decide-run.js';
import { TypingQueue } from '../typing/typing-queue.js';
import type { Lookout } from './estimate-facts.js';
import { lookAhead } from './estimate-steps.js';

/** What the next run would do and take. */
export interface Forecast extends ModeChoice, Total {
  /** The interrupted or held run that it would go on with. */
  unfinished: { runId: string; held: string[] } | undefined;
  steps: Step[];
  /** Blocks of overage that it would bill at most. */
  overageBlocks: bigint;
  /** Time that its calls take at the plan's rate; undefined where that is unlimited. */
  seconds: number | undefined;
  /** What it may take, and what would be left of that until `resetsAt`; undefined where nothing bounds it. */
  allowed: { calls?: bigint; exportRows?: bigint };
  rest: { calls?: bigint; exportRows?: bigint };
  resetsAt: Date | undefined;
  plan: Pick<SeenPlan, 'plan' | 'name' | 'status'>;
  /** Calls that were made to know it. */
  looked: number;
  /** Why the run would be refused, or stop before its end. */
  refusal: PricelakeError | undefined;
}

/**
 * Looks at the lake, the plan and what waits, and says what the next run would do, by the functions by which it decides.
 * At most seven calls, and some more for each dataset of a list; nothing is written, and no lock is taken.
 */
export async function forecastRun(
  pipeline: Pipeline,
  io: Io,
  { signal, caps = {} }: { signal?: AbortSignal; caps?: RunCaps } = {},
): Promise<Forecast> {
  const { baseUrl, apiKey } = pipeline.source;
  const lake = await findLake(pipeline.lake.path);
  const stop = signal === undefined ? {} : { signal };
  const client = createClient({ baseUrl, apiKey, ...stop }, io);
  const workFolder = await mkdtemp(path.join(tmpdir(), 'pricelake-plan-'));
  const db = await Database.open({ tempDirectory: workFolder, memoryLimit: '800MB', ...stop });
  try {
    await db.run("SET VARIABLE run_id = 'plan'");
    await createMacros(db);
    await createTableViews(db, lake);
    const unfinished = await peekUnfinishedRun(lake.root);
    const typing = new TypingQueue(db, { runId: 'plan', workFolder });
    const tables = await readTables(lake);
    refuseNarrowing(pipeline, tables.items, unfinished?.journal);
    const begun = unfinished !== undefined && hasAsked(unfinished.journal) ? unfinished : undefined;
    const selection = begun === undefined ? pipeline.source.datasets : readRunSelection(begun.journal);
    const lookout = {
      pipeline,
      selection,
      caps,
      io,
      lake,
      db,
      client,
      typing,
      tables,
      workFolder,
      journal: unfinished?.journal,
    };
    return await forecast(lookout, unfinished);
  } finally {
    await client.close();
    db.close();
    await rm(workFolder, { recursive: true, force: true });
  }
}

async function forecast(lookout: Lookout, unfinished: LandedRun | undefined): Promise<Forecast> {
  const { client, journal } = lookout;
  const planned = await openPlan(lookout, { all: (type) => journal?.all(type) ?? [] });
  const { plan, gate } = planned;
  const allowed = gate.left();
  const choice = await chooseLikeRun(lookout, planned);
  const { ahead, refusal } = await lookAhead(lookout, planned, choice);
  const steps = estimateSteps(ahead);
  const total = sumSteps(steps);
  const looked = client.calls();
  return {
    ...choice,
    ...total,
    unfinished: unfinished && { runId: unfinished.runId, held: journal?.last('held')?.checks ?? [] },
    steps,
    overageBlocks: countOverage(allowed, total.exportRows),
    seconds: countSeconds(total.calls, plan.limits.ratePerSecond ?? null),
    allowed: countRest(allowed, { calls: looked - 1, exportRows: 0n }),
    rest: countRest(allowed, { calls: looked - 1 + total.calls, exportRows: total.exportRows }),
    resetsAt: allowed.resetsAt,
    plan: { plan: plan.plan, name: plan.name, status: plan.status },
    looked,
    refusal: refusal ?? findShortage(allowed, total, looked),
  };
}

/** What an unfinished run has decided holds, as it does for the run itself. */
async function chooseLikeRun(lookout: Lookout, planned: PlannedRun): Promise<ModeChoice> {
  const decided = lookout.journal?.last('decision');
  const isFeedLost = decided?.mode === 'feed' && !hasFeed(planned.plan);
  return decided === undefined || isFeedLost ? chooseRunMode(lookout, planned) : decided;
}

/** Why the run would stop before its end: too few calls. */
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
      hint: 'sync lands what it can, keeps it, and goes on when there are calls again',
    },
  );
}
