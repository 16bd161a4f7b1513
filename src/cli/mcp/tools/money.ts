import { createHash } from 'node:crypto';
import * as z from 'zod';
import { createClient } from '../../../api/client.js';
import { PricelakeError } from '../../../io/errors.js';
import { peekUnfinishedRun } from '../../../journal/landings.js';
import { findLake } from '../../../lake/lake.js';
import { readTable } from '../../../lake/read.js';
import type { RunCaps } from '../../../plan/allowance.js';
import { estimateRun, type RunEstimate } from '../../../run/plan/estimate-run.js';
import { runSync } from '../../actions/run-sync.js';
import type { CommandContext } from '../../command.js';
import { describeError } from '../../exit-codes.js';
import { openPipeline } from '../../find-target.js';
import type { Output } from '../../output/output.js';
import { planResult, runResult } from '../../results/copy.js';
import { PLAIN } from '../../style.js';
import type { Call, Desk, KnownPlan, LakeState } from '../desk.js';
import { paidShape, type SessionBudget } from '../session-budget.js';
import { declareTool } from '../tool.js';

/** @throws PricelakeError `usage` where a remote is read: its own machine syncs it */
async function readState({ path, remote }: Desk): Promise<LakeState> {
  if (remote !== undefined) {
    throw new PricelakeError('usage', 'this server reads a remote, which it cannot sync', {
      hint: 'A person can start one on the machine whose pipeline file names it.',
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

const connectWithin = (cap: SessionBudget): typeof createClient => {
  return (options, io) => createClient({ ...options, cap }, io);
};

/** Caps of one run: what the session has left, and what earlier tries of the run took. */
const capRun = (session: SessionBudget, { taken, blocks }: LakeState): RunCaps => ({
  maxRows: Number(session.left.exportRows + taken),
  maxOverage: Number(session.left.overageBlocks + blocks),
  onExport: (rows, billed) => session.takeExport(rows, billed),
});

const addPaid = async <T extends Record<string, unknown>>({ session }: Desk, work: () => Promise<T>) => {
  const { result, paid } = await session.measure(work);
  return { ...result, paid, session: { spent: session.spent, left: session.left } };
};

/** The same plan of the same lake has the same digest. */
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

export const plan = declareTool({
  name: 'plan',
  title: 'Price the next sync',
  describe:
    'What the next sync would do and cost: calls, export rows, overage, and a digest that `sync` takes. Changes nothing, but makes up to seven calls itself, which count.',
  input: z.object({
    reconcile: z.boolean().optional().describe('Plan a complete comparison with the service instead'),
  }),
  output: z.object({
    ...planResult.shape,
    digest: z.string().nullable().describe('Null if sync would be refused'),
    refusal: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
    ...paidShape,
  }),
  asksService: true,
  run: ({ reconcile = false }, { desk, signal }) =>
    desk.inTurn(() =>
      addPaid(desk, async () => {
        const { session, io, path, pipeline: named } = desk;
        const pipeline = await openPipeline({ pipeline: named, lake: path }, { io });
        if (reconcile) pipeline.source.mode = 'snapshot';
        const state = await readState(desk);
        const caps = capRun(session, state);
        const estimate = await estimateRun(pipeline, io, { signal, caps, connect: connectWithin(session) });
        const { refusal: stopped, ...priced } = estimate;
        const { calls, exportRows, overageBlocks } = estimate;
        const refusal = stopped ?? refuseBeyond({ calls, exportRows, overageBlocks }, session);
        const key = digest(path, reconcile, state, estimate);
        if (refusal === undefined) {
          desk.plans.set(key, { isReconcile: reconcile, state, calls, exportRows, overageBlocks });
        }
        const why = refusal === undefined ? null : describeError(refusal).error;
        return { ...priced, lake: path, digest: refusal === undefined ? key : null, refusal: why };
      }),
    ),
});

type Cost = Pick<KnownPlan, 'calls' | 'exportRows' | 'overageBlocks'>;

/** Undefined if the session can pay for it. */
function refuseBeyond({ calls, exportRows, overageBlocks }: Cost, { left }: SessionBudget): PricelakeError | undefined {
  const over = [
    BigInt(calls) > left.calls ? `${calls} calls of ${left.calls}` : [],
    exportRows > left.exportRows ? `${exportRows} export rows of ${left.exportRows}` : [],
    overageBlocks > left.overageBlocks ? `${overageBlocks} blocks of overage of ${left.overageBlocks}` : [],
  ].flat();
  if (over.length === 0) return undefined;
  return new PricelakeError('budget', `the session's budget is too small: it would take ${over.join(', ')} left`, {
    hint: 'A person can start the server again with larger --max-calls, --max-rows or --max-overage.',
  });
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
    'Carries out a plan whose digest you repeat, once, within the budget of the session. It spends money, so ask the person first. Only if the server was started with --allow-sync.',
  input: z.object({ digest: z.string().regex(/^[0-9a-f]{32}$/u, 'is no digest that `plan` gave') }),
  output: z.looseObject({ ...runResult.shape, ...paidShape }),
  isReadOnly: false,
  asksService: true,
  run: ({ digest: given }, call) => {
    const { desk } = call;
    return desk.inTurn(() =>
      addPaid(desk, async () => {
        const { session, path, pipeline } = desk;
        if (!desk.allowSync) {
          throw new PricelakeError('usage', 'this server may not sync', {
            hint: 'A person can start it with --allow-sync and a budget.',
          });
        }
        const wanted = desk.plans.get(given);
        const state = await readState(desk);
        const isSame = wanted?.state.published === state.published && wanted.state.unfinished === state.unfinished;
        if (wanted === undefined || !isSame) {
          const message =
            wanted === undefined ? 'no plan of this session has this digest' : 'the lake is another since the plan';
          throw new PricelakeError('usage', message, { hint: 'Call `plan`, and repeat the digest of its answer.' });
        }
        const refusal = refuseBeyond(wanted, session);
        if (refusal !== undefined) throw refusal;
        desk.plans.delete(given);
        const request = { pipeline, lake: path, reconcile: wanted.isReconcile };
        const terms = { connect: connectWithin(session), caps: capRun(session, state), isOnce: true };
        const report = await runSync(request, createContext(call), terms);
        await desk.snapshots.renew();
        return report;
      }),
    );
  },
});
