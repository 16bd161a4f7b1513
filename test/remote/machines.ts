import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLake } from '../../src/lake/lake.js';
import { publishPointer } from '../../src/lake/publish.js';
import { readTable } from '../../src/lake/read.js';
import { Database } from '../../src/sql/connection.js';
import type { Lake } from '../../src/tables/layout.js';
import type { ObjectStore } from '../../src/wings/remote/object-store.js';
import { holdRemote, type Remote } from '../../src/wings/remote/remote.js';
import { select, write } from '../lake/items.js';
import { makeIo } from './quiet-io.js';

/** Machines that share a remote. */
export interface RemoteWorld<Store extends ObjectStore = ObjectStore> {
  store: Store;
  io: ReturnType<typeof makeIo>;
  db: Database;
  /** A machine: a folder of its own for the lake. */
  machine(): Promise<Machine>;
  close(): Promise<void>;
}

export interface Machine {
  path: string;
  /** Holds the remote and does `work` on the lake. */
  hold<T>(work?: (lake: Lake, remote: Remote) => Promise<T>, store?: ObjectStore): Promise<T | undefined>;
  /** The same with a run that commits two tables, and a pointer. */
  run(number: number, store?: ObjectStore): Promise<void>;
}

export async function makeRemoteWorld<Store extends ObjectStore>(store: Store): Promise<RemoteWorld<Store>> {
  const io = makeIo();
  const folder = await mkdtemp(join(tmpdir(), 'pricelake-remote-'));
  const db = await Database.open({ threads: 1 });
  let machines = 0;
  const machine = async (): Promise<Machine> => {
    const path = join(folder, `machine-${++machines}`);
    const hold: Machine['hold'] = (work, through = store) =>
      holdRemote(path, through, io, undefined, async (remote) =>
        work?.(await openLake(path, { create: true }), remote),
      );
    return {
      path,
      hold,
      run: async (number, through) => void (await hold((lake) => commitRun(db, lake, number), through)),
    };
  };
  const close = async () => {
    await db.close();
    await rm(folder, { recursive: true, force: true });
  };
  return { io, db, store, machine, close };
}

/** A run of ten more rows of `runs`, which it adds, and a `datasets` that it replaces; then its pointer. */
export async function commitRun(db: Database, lake: Lake, number: number): Promise<void> {
  const at = new Date(Date.now() + number);
  const run = BigInt(number);
  const info = { at, applied: { run }, retentionMs: 3_600_000 };
  const runs = select('runs', { run_id: `'r${number}'`, run_number: String(number) });
  await write(db, lake, { table: 'runs', select: runs, ...info });
  const remove = (await readTable(lake, 'datasets')).files;
  const datasets = select('datasets', { dataset_id: 'i', name: `'name ${number}'` }, 'range(3) AS r(i)');
  await write(db, lake, { table: 'datasets', select: datasets, remove, ...info });
  const pointer = { pipeline: 'test', runId: `r${number}`, runNumber: run, cursor: null, at, attributions: [] };
  await publishPointer(lake, pointer);
}

/**
 * The tables of the remote as an independent reader sees them: logs in order without a gap, each file that the newest
 * version names, with its checksum. Fails where a version is not whole.
 */
export async function readRemote(store: ObjectStore): Promise<Record<string, { version: number; files: string[] }>> {
  const tables: Record<string, { version: number; files: string[] }> = {};
  for (const { key } of await store.list('')) {
    const [, table, version] = /^(\w+)\/_delta_log\/(\d{20})\.json$/.exec(key) ?? [];
    if (table === undefined) continue;
    const state = tables[table] ?? { version: Number(version) - 1, files: [] };
    if (Number(version) !== state.version + 1) throw new Error(`${key}: a version is missing before it`);
    state.version += 1;
    const lines = (await readText(store, key)).split('\n').filter((one) => one !== '');
    for (const line of lines) {
      const { add, remove } = JSON.parse(line);
      if (remove) state.files = state.files.filter((file) => file !== remove.path);
      if (!add) continue;
      state.files.push(add.path);
      const object = await store.read(`${table}/${decodeURIComponent(add.path)}`);
      const found = object && createHash('sha256').update(object.bytes).digest('hex');
      if (found !== add.tags['pricelake.sha256']) throw new Error(`${key}: ${add.path} is ${found}`);
    }
    tables[table] = state;
  }
  return tables;
}

/** The tables that `lake.json` of the remote vouches for. */
export async function readPublished(store: ObjectStore): Promise<Record<string, number> | undefined> {
  const text = await readText(store, 'lake.json');
  if (text === '') return undefined;
  const { tables } = JSON.parse(text);
  return Object.fromEntries(
    Object.entries(tables).map(([table, state]) => [table, (state as { version: number }).version]),
  );
}

/** The versions that a machine's folder has. */
export async function readVersions({ path }: Machine): Promise<Record<string, number>> {
  const lake = await openLake(path, { create: false });
  const [runs, datasets] = await Promise.all([readTable(lake, 'runs'), readTable(lake, 'datasets')]);
  return { runs: Number(runs.version), datasets: Number(datasets.version) };
}

const readText = async (store: ObjectStore, key: string) => (await store.read(key))?.bytes.toString() ?? '';
