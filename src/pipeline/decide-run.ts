import type { Database } from '../duckdb/connection.js';
import { PricelakeError } from '../errors.js';
import type { Allowance } from '../extract/allowance.js';
import { chooseCopy } from '../extract/choose-copy.js';
import { chooseMode, type ModeChoice } from '../extract/choose-mode.js';
import { TXN_CURSOR } from '../model.js';
import { readIdleRuns } from './idle-runs.js';
import type { RunRow } from './ledger.js';
import { hasFeed, type PlannedRun, type SeenPlan } from './read-plan.js';
import type { Run } from './run.js';

/**
 * Decides how the run brings the lake up to date. The decision stands in the journal and holds for all tries, unless it
 * was to go on by the feed, and the plan has lost it since or the run stood still for longer than it reaches back.
 */
export async function decideRun(run: Run, planned: PlannedRun): Promise<ModeChoice> {
  const { journal } = run.landing;
  const decided = journal.last('decision');
  const isFeedLost = !hasFeed(planned.plan) || hasOutlastedHistory(run, planned);
  const isOpen = decided?.mode === 'feed' && journal.last('feed.done') === undefined;
  if (decided !== undefined && !(isOpen && isFeedLost)) return decided;
  const choice = await chooseRunMode(run, planned);
  run.io.log('info', 'decided', { ...choice });
  await journal.append({ type: 'decision', ...choice, calls: run.client.calls() });
  return choice;
}

const DAY_MS = 24 * 3600 * 1000;

/** True when the try before was longer ago than the feed reaches back (section 8, historyDays). */
export function hasOutlastedHistory({ landing: { journal }, io }: Run, { plan }: PlannedRun): boolean {
  const days = plan.limits.historyDays ?? null;
  const before = [...journal.all('begin'), ...journal.all('try')].map(({ at }) => Date.parse(at)).at(-2);
  return days !== null && before !== undefined && io.now().getTime() - before > days * DAY_MS;
}

/** How a run that begins now would bring the lake up to date. */
export async function chooseRunMode(
  { lake, tables, pipeline, io, db }: Pick<Run, 'lake' | 'tables' | 'pipeline' | 'io' | 'db'>,
  { plan, gate }: PlannedRun,
): Promise<ModeChoice> {
  const known = await db.row('SELECT count(*) AS n FROM items');
  const idleRuns = await readIdleRuns(lake);
  const snapshotAt = await findLastSnapshot(db, idleRuns);
  const caughtUpAt = await findCaughtUp(db, idleRuns);
  return explainRefusal(plan, () =>
    chooseMode({
      wanted: pipeline.source.mode,
      hasItems: tables.items.version >= 0n,
      hasCursor: tables.history.txn[TXN_CURSOR] !== undefined,
      hasFeed: hasFeed(plan),
      historyDays: plan.limits.historyDays ?? null,
      caughtUpAt,
      snapshotAt,
      reconcileEvery: pipeline.reconcile,
      copyRefusal: findCopyRefusal(gate.left(), known?.n as bigint),
      now: io.now(),
    }),
  );
}

/** Why neither exports nor pages can bring all items this month. */
function findCopyRefusal(allowance: Allowance, items: bigint): string | undefined {
  const choice = chooseCopy({ items, exportRows: items, allowance, callsMade: 0n, pagesLanded: 0n });
  if (choice.route === 'wait') return choice.refusal.message;
  return choice.thisMonth ? undefined : choice.reason;
}

/** Up to when the lake is current; a run without news waits among the idle ones. */
async function findCaughtUp(db: Database, idleRuns: readonly RunRow[]): Promise<Date | undefined> {
  const idle = idleRuns.at(-1)?.caught_up_at ?? null;
  if (idle !== null) return new Date(idle);
  // Older rows do not tell when the feed's end was reached: not before the run began.
  const row = await db.row(
    'SELECT epoch_ms(max(coalesce(caught_up_at, CASE WHEN caught_up THEN started_at END))) AS at FROM runs',
  );
  return typeof row?.at === 'bigint' ? new Date(Number(row.at)) : undefined;
}

/** A complete copy that showed nothing new waits among the idle runs. */
async function findLastSnapshot(db: Database, idleRuns: readonly RunRow[]): Promise<Date | undefined> {
  const idle = idleRuns.findLast(({ mode }) => mode === 'snapshot');
  if (idle !== undefined) return new Date(idle.started_at);
  const row = await db.row("SELECT epoch_ms(max(started_at)) AS at FROM runs WHERE mode = 'snapshot'");
  return typeof row?.at === 'bigint' ? new Date(Number(row.at)) : undefined;
}

function explainRefusal(plan: SeenPlan, choose: () => ModeChoice): ModeChoice {
  try {
    return choose();
  } catch (error) {
    if (!(error instanceof PricelakeError)) throw error;
    throw new PricelakeError(error.code, `${error.message} (plan "${plan.name}")`, {
      ...error.facts,
      upgradeUrl: plan.upgradeUrl,
    });
  }
}
