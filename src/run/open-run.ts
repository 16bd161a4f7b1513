import { type ApiClient, type ClientOptions, createClient } from '../api/client.js';
import { removeBackfill } from '../backfill/land-histories.js';
import type { Pipeline } from '../config/pipeline-file.js';
import { DriftWatch } from '../drift/drift-watch.js';
import type { Database } from '../duckdb/connection.js';
import { PricelakeError } from '../errors/errors.js';
import { listLandedEvents } from '../extract/events.js';
import type { Io } from '../io/io.js';
import { refuseOtherTypes, refuseUnknownColumns } from '../lake/column-difference.js';
import { compactLake } from '../lake/compact.js';
import { isEmptyFile } from '../lake/empty-file.js';
import { isMisplaced } from '../lake/flatten.js';
import { findForeignChanges, isRepairedByCopy, markAccepted, refuseForeignChanges } from '../lake/foreign-changes.js';
import { type Lake, openLake } from '../lake/lake.js';
import { privatePath } from '../lake/layout.js';
import { type LakeLock, lockLake } from '../lake/lock.js';
import { readPointer } from '../lake/pointer.js';
import { readTable } from '../lake/read.js';
import { recoverLake } from '../lake/recover.js';
import { openSession, type Session } from '../lake/session.js';
import { finishSwap } from '../lake/swap-lake.js';
import { createTableViews } from '../lake/views.js';
import type { JournalEntry } from '../landing/journal-entry.js';
import { beginRun, dropRun, findUnfinishedRun, type Landing, peekUnfinishedRun } from '../landing/landing.js';
import type { RunCaps } from '../plan/allowance.js';
import { loadTableSchema } from '../tables/schemas.js';
import { type DatasetSelection, TABLE_NAMES, type TableName, type TableState } from '../tables/table.js';
import { findItemPath } from '../typing/item-names.js';
import { TypingQueue } from '../typing/typing-queue.js';
import { removeEvents } from '../webhook/event-files.js';
import { hasAsked, readRunSelection, refuseNarrowing, showSelection } from './dataset-selection.js';
import { readIdleRuns } from './idle-runs.js';
import { readTableStanding, type TableStanding } from './table-standing.js';

/** Every table as its log says it is. */
type Tables = Record<TableName, TableState>;

/** A run at work: what its steps share. */
export interface Run {
  pipeline: Pipeline;
  /** The datasets that it copies. */
  selection: DatasetSelection;
  /** What the command line allows this run. */
  caps: RunCaps;
  io: Io;
  lake: Lake;
  lock: LakeLock;
  /** Aborted when the process is told to stop, or when the lock was lost. */
  stop: AbortSignal;
  session: Session;
  db: Database;
  client: ApiClient;
  landing: Landing;
  typing: TypingQueue;
  /** What the rows of the run show, to compare with the document. */
  drift: DriftWatch;
  workFolder: string;
  /** Tables as the run found them. */
  tables: Tables;
  /** Tables that other programs changed, and up to which version: the run's complete copy repairs them. */
  repairs: Partial<Record<TableName, bigint>>;
  /** True when an interrupted run is continued. */
  resumed: boolean;
}

export interface OpenOptions {
  signal?: AbortSignal | undefined;
  /** Makes the client; default: of the service that the pipeline names. */
  connect?: (options: ClientOptions, io: Io) => ApiClient;
  /** Refuses an unfinished run that is not wanted, or that there is none, before anything is begun. */
  accept?: (unfinished: Landing | undefined) => void;
  caps?: RunCaps;
}

/** Opens and locks the lake, puts right what a crash left, and continues the unfinished run or begins one. */
export async function openRun(pipeline: Pipeline, world: Io, options: OpenOptions = {}): Promise<Run> {
  const { baseUrl, apiKey } = pipeline.source;
  const { signal, connect = createClient, accept, caps = {} } = options;
  const stop = new AbortController();
  // Every wait of the run ends when it is told to stop.
  const io: Io = { ...world, sleep: (ms, own = stop.signal) => world.sleep(ms, own) };
  const client = connect({ baseUrl, apiKey, signal: stop.signal }, io);
  const lake = await openLake(pipeline.lake.path, { create: true });
  const lock = await lockLake(lake, io);
  for (const source of [signal, lock.lost]) {
    if (source?.aborted) stop.abort(source.reason);
    source?.addEventListener('abort', () => stop.abort(source.reason), { once: true });
  }
  let landing: Landing | undefined;
  let session: Session | undefined;
  try {
    await finishSwap(lake);
    const states = await readStates(lake);
    const repairs = await planRepairs(lake, states, pipeline);
    const found = acceptTables(lake, states);
    await recoverLake(lake, io);
    refuseOtherPartitions(pipeline, found.items);
    const unfinished = await findRun(lake, pipeline, found, accept);
    landing = unfinished ?? (await beginNewRun(pipeline, lake, found, io));
    if (unfinished !== undefined) {
      await landing.journal.append({ type: 'try', at: io.now().toISOString() });
      io.log('info', 'run.resumed', {
        runId: landing.runId,
        datasets: showSelection(readRunSelection(landing.journal)),
      });
    }
    const { runId } = landing;
    session = await openSession({
      lake,
      runId,
      workFolder: privatePath(lake, 'work', runId),
      signal: stop.signal,
    });
    const { db, workFolder } = session;
    await db.run('SET preserve_insertion_order = false');
    const tables = await placeFiles(db, lake, found, repairs, io);
    const { mapping } = pipeline.source;
    const drift = new DriftWatch({ '/export': (parent, name) => findItemPath(parent, name, mapping) });
    const typing = new TypingQueue(db, { runId, workFolder }, mapping, drift.look);
    const shared = { pipeline, caps, io, stop: stop.signal, lake, lock, session, db, client };
    const selection = readRunSelection(landing.journal);
    return {
      ...shared,
      selection,
      landing,
      typing,
      drift,
      workFolder,
      tables,
      repairs,
      resumed: unfinished !== undefined,
    };
  } catch (error) {
    await session?.close();
    await landing?.journal.close();
    await lock.release();
    await client.close();
    throw error;
  }
}

/** The run to continue. One that has asked for nothing yet starts over if the pipeline copies other datasets now. */
async function findRun(
  lake: Lake,
  pipeline: Pipeline,
  tables: Tables,
  accept: OpenOptions['accept'],
): Promise<Landing | undefined> {
  const unfinished = await findUnfinishedRun(lake.root);
  try {
    accept?.(unfinished);
    refuseNarrowing(pipeline, tables.items, unfinished?.journal);
    if (unfinished === undefined || hasAsked(unfinished.journal)) return unfinished;
    if (String(readRunSelection(unfinished.journal)) === String(pipeline.source.datasets)) return unfinished;
    await dropRun(unfinished);
    return undefined;
  } catch (error) {
    await unfinished?.journal.close();
    throw error;
  }
}

/** Before anything is fetched: the files of a table are all partitioned alike. */
function refuseOtherPartitions(pipeline: Pipeline, items: TableState): void {
  const file = items.files.find((file) => !isEmptyFile(file));
  if (file === undefined) return;
  const wanted = pipeline.lake.tables.items?.partitionBy ?? loadTableSchema('items').partitionBy;
  const present = Object.keys(file.partitionValues);
  if (wanted.join() === present.join()) return;
  throw new PricelakeError(
    'config',
    `${pipeline.file}: lake.tables.items.partitionBy is [${wanted.join(', ')}], but the lake has [${present.join(', ')}]`,
    { hint: 'Go back to the old setting, or run `pricelake rebuild`.' },
  );
}

/** Older versions and other writers leave files in folders, where plain reads err: before anything else they come out. */
async function placeFiles(db: Database, lake: Lake, found: Tables, repairs: Run['repairs'], io: Io): Promise<Tables> {
  // Until a table is repaired, nothing of the lake is pointed at: the next run does it.
  if (Object.keys(repairs).length > 0) return found;
  if (!Object.values(found).some(({ files }) => files.some(isMisplaced))) return found;
  await compactLake(db, lake, 'misplaced', io);
  await createTableViews(db, lake);
  return readTables(lake);
}

async function beginNewRun(pipeline: Pipeline, lake: Lake, tables: Tables, io: Io): Promise<Landing> {
  const idle = await readIdleRuns(lake);
  // A run that lost its landing midway has left its number in some tables: it is not given twice.
  const numbers = [idle.at(-1)?.run_number, ...Object.values(tables).map(({ applied }) => applied.run)];
  const lastNumber = numbers.reduce<bigint>((last, number = 0n) => (number > last ? number : last), 0n);
  return beginRun(
    lake.root,
    {
      runNumber: lastNumber + 1n,
      pipeline: pipeline.name,
      cursorFrom: tables.history.applied.cursor ?? null,
      ...(pipeline.source.datasets === 'all' ? {} : { datasets: [...pipeline.source.datasets] }),
    },
    io,
  );
}

/** Every table. @throws PricelakeError `lake_invalid` for columns of another version that this one can't continue with. */
export async function readTables(lake: Lake): Promise<Tables> {
  return acceptTables(lake, await readStates(lake));
}

function readStates(lake: Lake): Promise<TableState[]> {
  return Promise.all(TABLE_NAMES.map((table) => readTable(lake, table)));
}

/**
 * What other programs changed, where this run repairs it: it takes a complete copy, and has not committed the tables.
 * @throws PricelakeError `lake_invalid` where it does not
 */
export async function planRepairs(
  lake: Lake,
  states: readonly TableState[],
  { source }: Pipeline,
): Promise<Run['repairs']> {
  const changes = await findForeignChanges(lake, states, await readPointer(lake));
  if (changes.length === 0) return {};
  const unfinished = await peekUnfinishedRun(lake.root);
  const takesCopy = source.mode === 'snapshot' || unfinished?.journal.last('decision')?.mode === 'snapshot';
  const isCommitted = states.some(
    (state) => unfinished !== undefined && readTableStanding(state, unfinished.runNumber) === 'committed',
  );
  if (!takesCopy || isCommitted || !isRepairedByCopy(changes)) refuseForeignChanges(lake, changes);
  return markAccepted(changes);
}

function acceptTables(lake: Lake, states: TableState[]): Tables {
  refuseUnknownColumns(lake, states);
  for (const state of states) refuseOtherTypes(lake, state);
  return Object.fromEntries(states.map((state) => [state.table, state])) as Tables;
}

/** What the run's first journal line says. */
export function readBegin(run: Pick<Run, 'landing'>) {
  const begin = run.landing.journal.last('begin');
  if (begin === undefined)
    throw new PricelakeError('lake_invalid', `${run.landing.folder}: the journal has no beginning`);
  return begin;
}

/** How the run found a table. */
export function findStanding({ tables, landing, repairs }: Run, table: TableName): TableStanding {
  return readTableStanding(tables[table], landing.runNumber, repairs[table] !== undefined);
}

/** True when this run has committed the table already, in an earlier try. */
export function isCommitted(run: Run, table: TableName): boolean {
  return findStanding(run, table) === 'committed';
}

/** Forgets a run that found nothing to do; the changes of its events and backfill are in history already. */
export async function dropIdleRun(run: Run): Promise<void> {
  await removeEvents(run.lake.root, listLandedEvents(run.landing), run.landing.runId, run.io);
  await removeBackfill(run.landing, run.lake.root);
  await dropRun(run.landing);
}

/** What this process has called so far. */
export function noteCalls({ client }: Pick<Run, 'client'>): Extract<JournalEntry, { type: 'calls' }> {
  return { type: 'calls', calls: client.calls(), refused: client.refusedCalls() };
}

/** A try that ends early was mostly refused: the run's row tells so, when a later try writes it. */
async function noteLastCalls(run: Run): Promise<void> {
  const { journal } = run.landing;
  if (journal.last('end') !== undefined || run.client.refusedCalls() === 0) return;
  await journal.append(noteCalls(run)).catch(() => {}); // an idle run has closed it
}

/** Lets go of everything; the landing stays, so that an unfinished run can go on. */
export async function closeRun(run: Run): Promise<void> {
  await run.typing.finish().catch(() => {}); // nothing may use the database when it closes
  await run.session.close();
  await noteLastCalls(run);
  await run.landing.journal.close().catch(() => {}); // an idle run has closed it
  await run.client.close();
  await run.lock.release();
}
