import { hasFeed, type PlannedRun, type SeenPlan } from '../account/read-plan.js';
import type { Database } from '../duckdb/connection.js';
import { PricelakeError } from '../errors/errors.js';
import type { Io } from '../io/io.js';
import type { JournalEntry } from '../landing/journal-entry.js';
import { findBrokenCopy, refuseBroken } from '../plan/broken-exports.js';
import { chooseCopy } from '../plan/choose-copy.js';
import { chooseMode, type ModeChoice } from '../plan/choose-mode.js';
import type { ExportGate } from '../plan/export-gate.js';
import { fetchDatasets, findNew, nameDatasets, readLakeSelection } from '../run/dataset-selection.js';
import { readIdleRuns } from '../run/idle-runs.js';
import type { RunRow } from '../run/ledger.js';
import type { Run } from '../run/open-run.js';

/**
 * Decides how the run brings the lake up to date. The decision stands in the journal and holds for all tries, unless it
 * was to go on by the feed, and the plan has lost it since or the run stood still for longer than it reaches back; or
 * to compare with a complete copy that can't be had now.
 */
export async function decideRun(run: Run, planned: PlannedRun): Promise<ModeChoice> {
  const { journal } = run.landing;
  const decided = journal.last('decision');
  const isFeedLost = !hasFeed(planned.plan) || hasOutlastedHistory(run, planned);
  const isOpen = decided?.mode === 'feed' && journal.last('feed.done') === undefined;
  // Changes by another program are repaired by a complete copy alone.
  const isRepair = Object.keys(run.repairs).length > 0;
  const isCopyDue = isRepair && decided?.mode !== 'snapshot';
  const isStuck = !isRepair && decided?.mode === 'snapshot' && (await isCopyStuck(run, planned));
  if (decided !== undefined && !(isOpen && isFeedLost) && !isCopyDue && !isStuck) return decided;
  const choice = await chooseRunMode(run, planned);
  run.io.log('info', 'decided', { ...choice });
  await journal.append({ type: 'decision', ...choice, calls: run.client.calls() });
  return choice;
}

/** True for a complete comparison of which nothing has landed, and whose export is not to be tried yet: it can wait. */
async function isCopyStuck(run: Run, { gate }: PlannedRun): Promise<boolean> {
  const { tables, landing, io } = run;
  const hasLanded = landing.journal.entries.some(({ type }) => COPY_ENTRIES.includes(type));
  if (tables.items.version < 0n || hasLanded || findBrokenCopy(gate.memory, io.now()) === undefined) return false;
  return findCopyRefusal({ gate, io, items: await countKnownRows(run) }) !== undefined;
}

/** Journal entries of what a copy has landed. */
const COPY_ENTRIES: readonly JournalEntry['type'][] = ['export.done', 'export.cut', 'poll.page'];

const DAY_MS = 24 * 3600 * 1000;

/** True when the try before was longer ago than the feed reaches back (section 8, historyDays). */
export function hasOutlastedHistory({ landing: { journal }, io }: Run, { plan }: PlannedRun): boolean {
  const days = plan.limits.historyDays ?? null;
  const before = [...journal.all('begin'), ...journal.all('try')].map(({ at }) => Date.parse(at)).at(-2);
  return days !== null && before !== undefined && io.now().getTime() - before > days * DAY_MS;
}

/** How a run that begins now would bring the lake up to date. */
export async function chooseRunMode(run: Decider, planned: PlannedRun): Promise<ModeChoice> {
  const choice = await chooseKnownMode(run, planned);
  const added = await findAdded(run, planned);
  if (added.length === 0) return choice;
  const reason = `${choice.reason}; ${nameDatasets(added)} ${added.length === 1 ? 'is' : 'are'} new to the lake`;
  return { ...choice, reason, added };
}

/** What a decision is made from. */
type Decider = Pick<Run, 'lake' | 'tables' | 'pipeline' | 'io' | 'db' | 'selection' | 'client'>;

/**
 * Datasets that the run copies and the lake has no copy of: newly listed ones, or those that the key can read again.
 * The latter wait while no copy of them is allowed.
 */
async function findAdded({ tables, selection, db, client, io }: Decider, { gate }: PlannedRun): Promise<bigint[]> {
  const had = readLakeSelection(tables.items);
  if (had === undefined) return [];
  if (selection !== 'all') return findNew(selection, had);
  const copied = tables.items.applied.datasets.ids;
  if (copied.length === 0) return [];
  const isNew = ({ id }: { id: bigint }) => !copied.includes(id);
  if (had !== 'all') return (await fetchDatasets(client)).filter(isNew).map(({ id }) => id);
  const seen = (await db.rows('SELECT dataset_id AS id FROM datasets')) as { id: bigint }[];
  if (!seen.some(isNew)) return [];
  const added = (await fetchDatasets(client)).filter(isNew);
  const refusal = findCopyRefusal({ gate, io, items: added.reduce((sum, { items }) => sum + items, 0n) });
  if (refusal === undefined) return added.map(({ id }) => id);
  io.log('warn', 'datasets.waiting', { datasets: nameDatasets(added.map(({ id }) => id)), reason: refusal });
  return [];
}

/** Rows that a complete copy takes, as far as the lake tells: one in several datasets of a list comes with each. */
async function countKnownRows({ db, selection }: Decider): Promise<bigint> {
  const several = selection !== 'all' && selection.length > 1 ? selection : [];
  const row = await db.row(
    several.length === 0
      ? 'SELECT count(*) AS n FROM items'
      : `SELECT coalesce(sum(greatest(1, len(list_intersect(datasets,
          (SELECT list(name) FROM datasets WHERE dataset_id IN (${several.join(', ')})))))), 0)::BIGINT AS n FROM items`,
  );
  return row?.n as bigint;
}

async function chooseKnownMode(run: Decider, { plan, gate }: PlannedRun): Promise<ModeChoice> {
  const { lake, tables, pipeline, io, db } = run;
  const known = await countKnownRows(run);
  const idleRuns = await readIdleRuns(lake);
  const snapshotAt = await findLastSnapshot(db, idleRuns);
  const caughtUpAt = await findCaughtUp(db, idleRuns);
  return explainRefusal(plan, () =>
    chooseMode({
      wanted: pipeline.source.mode,
      hasItems: tables.items.version >= 0n,
      hasCursor: tables.history.applied.cursor !== undefined,
      hasFeed: hasFeed(plan),
      historyDays: plan.limits.historyDays ?? null,
      caughtUpAt,
      snapshotAt,
      reconcileEvery: pipeline.reconcile,
      copyRefusal: findCopyRefusal({ gate, io, items: known }),
      now: io.now(),
    }),
  );
}

/** Why neither exports nor pages can bring all items this month. */
function findCopyRefusal({ gate, io, items }: { gate: ExportGate; io: Io; items: bigint }): string | undefined {
  const waiting = findBrokenCopy(gate.memory, io.now());
  const broken = waiting && refuseBroken(waiting);
  const allowance = gate.left();
  const choice = chooseCopy({ items, exportRows: items, allowance, callsMade: 0n, pagesLanded: 0n, broken });
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
