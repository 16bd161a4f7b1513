import { createHash } from 'node:crypto';
import * as z from 'zod';
import { type CallCap, createClient } from '../../../api/client.js';
import { PricelakeError } from '../../../io/errors.js';
import { peekUnfinishedRun } from '../../../journal/landings.js';
import { findLake } from '../../../lake/lake.js';
import { readTable } from '../../../lake/read.js';
import type { RunCaps } from '../../../plan/allowance.js';
import type { RunEstimate } from '../../../run/estimate/estimate-run.js';
import { estimateWithWings } from '../../../wings/index.js';
import { runSync } from '../../actions/run-sync.js';
import type { CommandContext } from '../../command.js';
import { describeError } from '../../exit-codes.js';
import { openPipeline } from '../../find-target.js';
import type { Output } from '../../output/output.js';
import { runPlan, runResult } from '../../results/copy.js';
import { PLAIN } from '../../style.js';
import type { Call, Desk, KnownPlan, LakeState } from '../desk.js';
import { PlannedCalls, paidShape, type SessionBudget, SPENT, type Spent } from '../session-budget.js';
import { declareTool } from '../tool.js';

/**
 * Reads the lake's newest run and unfinished run, on which a plan depends.
 * @throws PricelakeError `usage` for a remote lake, which this server can't sync
 */
async function readState({ path, remote }: Desk): Promise<LakeState> {
  if (remote !== undefined) {
    throw new PricelakeError('usage', "this server reads a remote lake, which it can't sync", {
      hint: 'Ask the user to start a server on the machine with the pipeline file for this lake.',
    });
  }
  const lake = await findLake(path);
  const { applied } = await readTable(lake, 'runs');
  const open = await peekUnfinishedRun(lake.root, applied.run ?? 0n);
  const exports = open?.state.exports;
  return {
    published: String(applied.run ?? 0n),
    unfinished: open?.runId ?? null,
    taken: exports?.taken ?? 0n,
    blocks: exports?.blocks ?? 0n,
  };
}

const connectWithin = (cap: CallCap): typeof createClient => {
  return (options, io) => createClient({ ...options, cap }, io);
};

/**
 * Returns the limits of a run. Export rows and overage that earlier processes of the run have used count toward its
 * limits, so they are added to the rest of the session's budget.
 */
const capRun = (session: SessionBudget, { taken, blocks }: LakeState, most: Spent = session.left): RunCaps => ({
  maxRows: Number(most.exportRows + taken),
  maxOverage: Number(most.overageBlocks + blocks),
  onExport: (rows, billed) => session.takeExport(rows, billed),
});

const addPaid = async <T extends Record<string, unknown>>({ session }: Desk, work: () => Promise<T>) => {
  const { result, paid } = await session.measure(work);
  return { ...result, paid, session: { spent: session.spent, left: session.left } };
};

/** Computes the digest of a plan. The same plan for the same lake has the same digest. */
function digest(
  lake: string,
  isReconcile: boolean,
  { unfinished, published }: LakeState,
  estimate: RunEstimate,
): string {
  const { mode, steps, exportRows, overageBlocks } = estimate;
  const parts = steps.map(({ step, calls, exportRows: rows }) => `${step} ${calls} ${rows}`);
  const text = JSON.stringify([
    lake,
    isReconcile,
    unfinished,
    published,
    mode,
    parts,
    `${exportRows} ${overageBlocks}`,
  ]);
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/**
 * A run may use this share (1/GROWTH) more export rows than planned, because the catalog may grow before the user
 * approves the plan.
 */
const GROWTH = 100n;

/**
 * Returns the maximum that a run of a plan may use. A step for which the number of calls is only an estimate may make
 * twice as many calls.
 */
function allow({ calls, exportRows, overageBlocks, steps }: RunEstimate): Spent {
  const estimated = steps.reduce((sum, step) => (step.exact ? sum : sum + step.calls), 0);
  const grown = (exportRows + GROWTH - 1n) / GROWTH;
  return { calls: BigInt(calls + estimated), exportRows: exportRows + grown, overageBlocks };
}

/** Plans the next run. If the session's budget covers the plan, stores the plan for `sync`. */
async function planRun({ desk, signal }: Call, isReconcile: boolean) {
  const { session, io, path, pipeline: named } = desk;
  const pipeline = await openPipeline({ pipeline: named, lake: path }, { io });
  if (isReconcile) pipeline.source.mode = 'snapshot';
  const state = await readState(desk);
  const caps = capRun(session, state);
  const estimate = await estimateWithWings(pipeline, io, { signal, caps, connect: connectWithin(session) });
  const { refusal: stopped, ...priced } = estimate;
  const { calls, exportRows, overageBlocks } = estimate;
  const cost = { calls: BigInt(calls), exportRows, overageBlocks };
  const refusal = stopped ?? refuseBeyond(cost, session);
  const key = refusal === undefined ? digest(path, isReconcile, state, estimate) : null;
  const allows = allow(estimate);
  if (key !== null) desk.plans.set(key, { isReconcile, state, cost, allows });
  const why = refusal === undefined ? null : describeError(refusal).error;
  return { ...priced, lake: path, allows, digest: key, refusal: why };
}

export const plan = declareTool({
  name: 'plan',
  title: 'Price the next sync',
  describe:
    "Returns what the next sync would do and cost: calls, export rows and overage, and a digest for `sync`. Doesn't change anything, but makes up to seven calls itself, which count toward the quota.",
  input: z.object({
    reconcile: z.boolean().optional().describe('Plan a full comparison with the service instead'),
  }),
  output: z.object({
    ...runPlan.shape,
    allows: z
      .object(SPENT)
      .describe('The maximum that a sync with this digest may use; it stops before it would exceed it'),
    digest: z.string().nullable().describe('Null if sync would refuse to start'),
    refusal: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
    ...paidShape,
  }),
  asksService: true,
  run: ({ reconcile = false }, call) => call.desk.inTurn(() => addPaid(call.desk, () => planRun(call, reconcile))),
});

/** Returns an error if the session's budget doesn't cover the cost of a plan; undefined if it does. */
function refuseBeyond(
  { calls, exportRows, overageBlocks }: Spent,
  { left }: SessionBudget,
): PricelakeError | undefined {
  const over = [
    calls > left.calls ? `${calls} calls, but only ${left.calls} are left` : [],
    exportRows > left.exportRows ? `${exportRows} export rows, but only ${left.exportRows} are left` : [],
    overageBlocks > left.overageBlocks
      ? `${overageBlocks} blocks of overage, but only ${left.overageBlocks} are left`
      : [],
  ].flat();
  if (over.length === 0) return undefined;
  return new PricelakeError('budget', `the session's budget is too small: the plan needs ${over.join('; ')}`, {
    hint: 'Ask the user to restart the server with a larger --max-calls, --max-rows or --max-overage.',
  });
}

/** For each kind of cost, returns the plan's limit or the rest of the session's budget, whichever is lower. */
function holdWithin(most: Spent, { left }: SessionBudget): Spent {
  const least = (a: bigint, b: bigint) => (a < b ? a : b);
  return {
    calls: least(most.calls, left.calls),
    exportRows: least(most.exportRows, left.exportRows),
    overageBlocks: least(most.overageBlocks, left.overageBlocks),
  };
}

/**
 * If a run stopped because it needs more than its plan allows, makes a new plan, and returns an error with that plan.
 * Returns `error` itself if it has another cause, or if the session's budget doesn't cover the new plan.
 */
async function offerPlan(error: unknown, call: Call, { isReconcile }: KnownPlan): Promise<unknown> {
  if (!(error instanceof PricelakeError) || error.code !== 'budget') return error;
  const plan = await planRun(call, isReconcile).catch(() => undefined);
  if (plan === undefined || plan.digest === null) return error;
  const message = `the run stopped because it needs more than its plan allows: ${error.message}`;
  const hint = 'Downloaded data is kept. Show the user the new plan, and call `sync` with its digest if they agree.';
  return new PricelakeError('budget', message, { hint, plan }, { cause: error });
}

const NOBODY: Output = { columns: undefined, write: async () => true };

const createContext = ({ desk: { io }, signal }: Call): CommandContext => ({
  ...{ io, signal, output: NOBODY, json: true, style: PLAIN },
  say: async () => {},
});

export const sync = declareTool({
  name: 'sync',
  title: 'Bring the copy up to date',
  describe:
    'Runs the plan with this digest. A digest works once, and only while the lake is unchanged. If the run needs more than the plan allows, it stops early and returns a new plan. It can spend money, so ask the user first.',
  input: z.object({ digest: z.string().regex(/^[0-9a-f]{32}$/u, 'is not a digest that `plan` returned') }),
  output: z.looseObject({ ...runResult.shape, ...paidShape }),
  isReadOnly: false,
  asksService: true,
  run: ({ digest: given }, call) => {
    const { desk } = call;
    return desk.inTurn(() =>
      addPaid(desk, async () => {
        const { session, path, pipeline } = desk;
        const wanted = desk.plans.get(given);
        const state = await readState(desk);
        const isSame = wanted?.state.published === state.published && wanted.state.unfinished === state.unfinished;
        if (wanted === undefined || !isSame) {
          const message =
            wanted === undefined
              ? 'no plan in this session has this digest'
              : 'the lake has changed since the plan was made';
          throw new PricelakeError('usage', message, { hint: 'Call `plan`, and pass the digest that it returns.' });
        }
        const refusal = refuseBeyond(wanted.cost, session);
        if (refusal !== undefined) throw refusal;
        desk.plans.delete(given);
        const request = { pipeline, lake: path, reconcile: wanted.isReconcile };
        const calls = new PlannedCalls(session, wanted.allows.calls);
        const caps = capRun(session, state, holdWithin(wanted.allows, session));
        const terms = { connect: connectWithin(calls), caps, isOnce: true };
        const report = await runSync(request, createContext(call), terms).catch(async (error: unknown) => {
          throw await offerPlan(error, call, wanted);
        });
        await desk.snapshots.renew();
        return report;
      }),
    );
  },
});
