import { type ApiClient, type ClientOptions, createClient } from '../../api/client.js';
import type { Pipeline } from '../../config/pipeline.js';
import { PricelakeError } from '../../io/errors.js';
import type { Io } from '../../io/io.js';
import { chooseMemoryLimits, readFreeBytes, readMachineMemory } from '../../io/machine.js';
import { beginRun, dropRun, findUnfinishedRun, type Landing, readBegin } from '../../journal/landings.js';
import { type LakeMemory, listIdleRuns, type Memory, openMemory } from '../../journal/memory.js';
import type { EntryOf } from '../../journal/run-entry.js';
import { hasAsked, readSelection } from '../../journal/run-state.js';
import { openLake } from '../../lake/lake.js';
import { type LakeLock, lockLake } from '../../lake/lock.js';
import { acceptTables, readStates, readTables, type Tables } from '../../lake/read.js';
import { recoverLake } from '../../lake/recover.js';
import { openSession, type Session } from '../../lake/session.js';
import { LakeRows } from '../../lake/table-rows.js';
import { cutItemTails } from '../../source/item-files.js';
import type { Database } from '../../sql/connection.js';
import { FEW_ROWS, RelationGraph } from '../../sql/graph.js';
import type { Lake } from '../../tables/layout.js';
import type { LookAtRow } from '../../tables/table.js';
import { TypingQueue } from '../../typing/typing-queue.js';
import { refuseNarrowing, showSelection } from './dataset-selection.js';
import { refuseOtherPartitions } from './items-layout.js';
import { findStandings, planRepairs, type Repairs } from './open-tables.js';
import type { Engine, FoundLake, Ledger, World } from './run-parts.js';
import { lookAtDerivers, NO_WINGS, type Wings } from './wings.js';
import type { Watch } from './witness.js';

/** The number of database sessions. Two run statements, and the third writes a table. */
const SESSIONS = 3;

/** A table other than `items` isn't kept in RAM if it has more rows than this, because few statements read it. */
const FEW_ROWS_BEFORE = 5_000n;

export interface OpenedRun {
  world: World;
  found: FoundLake;
  ledger: Ledger;
  engine: Engine;
  lock: LakeLock;
  /** A signal that aborts when the process must stop, or when the run has lost the lake's lock. */
  stop: AbortSignal;
  /** True if the run continues an interrupted one. */
  resumed: boolean;
  /** Releases all resources. Keeps the landed files, so that an unfinished run can continue. */
  close(): Promise<void>;
}

export interface OpenOptions {
  signal?: AbortSignal | undefined;
  /** Creates the client. Defaults to a client for the pipeline's service. */
  connect?: (options: ClientOptions, io: Io) => ApiClient;
  /** True to continue only a held batch. If no batch is held, `openRun` throws before it changes the lake. */
  requiresHeld?: boolean;
  wings?: Wings | undefined;
}

/**
 * Opens and locks the lake, cleans up after a crash, and continues the unfinished run or begins a new one.
 * @throws PricelakeError `lake_invalid`; `nothing_held` if a held batch is required but no batch is held
 */
export async function openRun(pipeline: Pipeline, world: Io, options: OpenOptions = {}): Promise<OpenedRun> {
  const { baseUrl, apiKey } = pipeline.source;
  const { signal, connect = createClient, requiresHeld = false, wings = NO_WINGS } = options;
  const { sources, store, derivers, audit, listing, probe, mendLanding, upkeep } = wings;
  const stop = new AbortController();
  const closed = new AbortController();
  // Ends all waiting as soon as the run must stop.
  const io: Io = { ...world, sleep: (ms, own = stop.signal) => world.sleep(ms, own) };
  const client = connect({ baseUrl, apiKey, signal: stop.signal, cap: pipeline.budget.share?.cap }, io);
  const lake: Lake = { ...(await openLake(pipeline.lake.path, { create: !requiresHeld })), provide: store?.provide };
  const lock = await lockLake(lake, io);
  for (const source of [signal, lock.lost]) {
    if (source?.aborted) stop.abort(source.reason);
    source?.addEventListener('abort', () => stop.abort(source.reason), { signal: closed.signal });
  }
  const { memoryLimit, mostMemory } = chooseMemoryLimits(pipeline.lake.memory);
  let landing: Landing | undefined;
  let session: Session | undefined;
  let memory: Memory | undefined;
  try {
    for (const { recover } of upkeep) await recover(lake);
    const states = await readStates(lake);
    const repairs = await planRepairs(lake, states, pipeline);
    const found = acceptTables(lake, states);
    await recoverLake(lake, io);
    memory = await openMemory(lake, io);
    refuseOtherPartitions(pipeline, found.items);
    const unfinished = await findRun(lake, pipeline, found, { requiresHeld, mendLanding }, io);
    landing = unfinished ?? (await beginNewRun(pipeline, lake, found, memory.state, io));
    if (unfinished !== undefined) {
      const selection = readSelection(readBegin(landing));
      await landing.journal.append({ type: 'try', at: io.now().toISOString() });
      io.log('info', 'run.resumed', { runId: landing.runId, datasets: showSelection(selection) });
    }
    const { runId } = landing;
    session = await openSession({
      hasModels: true,
      sessions: SESSIONS,
      workFolder: lock.workFolder,
      memoryLimit: pipeline.lake.memory,
      signal: stop.signal,
    });
    const { db, workFolder } = session;
    io.log('info', 'run.machine', {
      memory: memoryLimit,
      mostMemory,
      machineMemory: readMachineMemory(),
      threads: db.threads,
      freeDisk: await readFreeBytes(lake.root),
    });
    await db.run('SET preserve_insertion_order = false');
    const tables = await prepareTables(upkeep, db, lake, { found, repairs }, io);
    const graph = new RelationGraph(db);
    const before = new LakeRows(graph, lake, tables, (table) => (table === 'items' ? FEW_ROWS : FEW_ROWS_BEFORE));
    const { mapping } = pipeline.source;
    const watches: Watch[] = [];
    const look: LookAtRow = (...row) => {
      for (const watch of watches) watch.look?.(...row);
    };
    const typing = new TypingQueue(db, { runId, workFolder }, mapping, look);
    const watched = { pipeline, io, client, landing, tables, graph, typing, workFolder, look };
    watches.push(...wings.witnesses.map((witness) => witness.watch(watched)));
    const standing = findStandings(tables, landing.runNumber, repairs);
    const facts = { pipeline, tables, repairs };
    const opened = {
      world: { io, client, sources, derivers, audit, listing, probe, upkeep, watches, look },
      found: { ...facts, lake, before, standing, ...lookAtDerivers(derivers, facts) },
      ledger: { landing, memory },
      engine: { graph, typing, workFolder, memoryLimit },
      ...{ lock, stop: stop.signal, resumed: unfinished !== undefined },
    };
    return { ...opened, close: () => closeRun(opened, session).finally(() => closed.abort()) };
  } catch (error) {
    await session?.close();
    await landing?.journal.close();
    await memory?.close();
    await lock.release();
    await client.close();
    closed.abort();
    throw error;
  }
}

/** Lets modules rewrite table files before the run reads them. Skips this in a run that repairs tables. */
async function prepareTables(
  upkeep: Wings['upkeep'],
  db: Database,
  lake: Lake,
  { found, repairs }: { found: Tables; repairs: Repairs },
  io: Io,
): Promise<Tables> {
  if (Object.keys(repairs).length > 0) return found;
  let tables = found;
  for (const each of upkeep) if (await each.prepare(db, lake, tables, io)) tables = await readTables(lake);
  return tables;
}

/** Finds the unfinished run to continue. Drops the run if the datasets changed before it made a request. */
async function findRun(
  lake: Lake,
  pipeline: Pipeline,
  tables: Tables,
  { requiresHeld, mendLanding }: { requiresHeld: boolean; mendLanding: Wings['mendLanding'] },
  io: Io,
): Promise<Landing | undefined> {
  let unfinished = await findUnfinishedRun(lake.root, tables.runs.applied.run ?? 0n, io);
  try {
    if (requiresHeld) refuseNotHeld(pipeline.lake.path, unfinished);
    if (unfinished !== undefined && mendLanding !== undefined) {
      const { runNumber } = unfinished;
      const isCommitted = Object.values(tables).some(({ applied }) => applied.run === runNumber);
      unfinished = await mendLanding(unfinished, { requiresHeld, isCommitted }, io);
    }
    const state = unfinished?.journal.state;
    refuseNarrowing(pipeline, tables.items, state);
    if (unfinished === undefined || state === undefined) return undefined;
    await cutItemTails(unfinished);
    if (hasAsked(state)) return unfinished;
    if (String(readSelection(readBegin(unfinished))) === String(pipeline.source.datasets)) return unfinished;
    await dropRun(unfinished);
    return undefined;
  } catch (error) {
    await unfinished?.journal.close();
    throw error;
  }
}

async function beginNewRun(
  pipeline: Pipeline,
  lake: Lake,
  tables: Tables,
  memory: LakeMemory,
  io: Io,
): Promise<Landing> {
  const idle = listIdleRuns(memory);
  // A run that lost its landed files may have committed tables, so its number must not be used again.
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

function refuseNotHeld(lakePath: string, unfinished: Landing | undefined): void {
  if (unfinished?.journal.state.stage === 'held') return;
  const state = unfinished === undefined ? 'its last run has ended' : `run ${unfinished.runNumber} was interrupted`;
  throw new PricelakeError('nothing_held', `${lakePath}: no batch is held; ${state}`, {
    hint: 'Run `pricelake sync` without --publish-held.',
  });
}

/** Removes a run that found no new data. First lets change sources delete stored changes that history already has. */
export async function dropIdleRun(world: Pick<World, 'io' | 'sources'>, lake: Lake, ledger: Ledger): Promise<void> {
  await settleSources(world, lake, ledger);
  await dropRun(ledger.landing);
}

export async function settleSources(
  { io, sources }: Pick<World, 'io' | 'sources'>,
  lake: Lake,
  { landing, memory }: Ledger,
): Promise<void> {
  for (const source of sources) await source.settle(landing, { lake, memory, io });
}

export function noteCalls(client: ApiClient): EntryOf<'calls'> {
  return { type: 'calls', calls: client.calls(), refused: client.refusedCalls() };
}

async function closeRun(
  { world: { client }, ledger: { landing, memory }, engine, lock }: Omit<OpenedRun, 'close'>,
  session: Session | undefined,
): Promise<void> {
  const { journal } = landing;
  await engine.typing.finish().catch(() => {}); // nothing may use the database when it closes
  await session?.close();
  // If this attempt ends early, journals the calls that the service refused, so that a later attempt reports them.
  const isRefused = journal.state.stage !== 'ended' && client.refusedCalls() > 0 && !lock.lost.aborted;
  if (isRefused) await journal.append(noteCalls(client)).catch(() => {}); // the journal of an idle run is already closed
  await journal.close().catch(() => {}); // the journal of an idle run is already closed
  await memory.close();
  await client.close();
  await lock.release();
}
