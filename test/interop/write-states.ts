import { execFileSync } from 'node:child_process';
import { appendFile, cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { runCompact } from '../../src/cli/actions/run-compact.js';
import { runRebuild } from '../../src/cli/actions/run-rebuild.js';
import { runVerify } from '../../src/cli/actions/run-verify.js';
import { PricelakeError } from '../../src/io/errors.js';
import { openLake } from '../../src/lake/lake.js';
import { createTableViews } from '../../src/lake/views.js';
import { Database } from '../../src/sql/connection.js';
import { quoteLiteral } from '../../src/sql/quote.js';
import { TABLE_NAMES, type TableName } from '../../src/tables/table.js';
import { openContext } from '../cli/open-context.js';
import { openWorld, readItems, readTruth, type World } from '../run/world.js';

/**
 * Writes lakes in the states that a lake comes to, all tables filled by runs over the sandbox, and beside each what other
 * readers must find there: `write-states.ts <folder> <python> <engine>…`. `empty`: with no rows in some tables. `spliced`:
 * after 100 runs over large files. `current`: after three runs. `compacted`: after `compact`. `retained`: with superseded
 * files, and `retained-before` as it was a run earlier. Then those that other programs write to, and what pricelake makes
 * of them next: engines are `delta-rs` and `Spark`, and `foreign_writes.py` runs them.
 */
const [folder = '', python = '', ...engines] = process.argv.slice(2);
if (engines.length === 0) throw new Error('usage: write-states.ts <folder> <python> <engine>…');

interface Write {
  engine: string;
  operation: 'OPTIMIZE' | 'ZORDER' | 'VACUUM' | 'DELETE';
  lake: string;
  /** The lake that it goes on with; default: the one after three runs. */
  from?: string;
  tables: readonly TableName[];
  where?: string;
}

/** What a command of ours said of a lake that another program wrote to. */
const commands: { state: string; command: string; result: string; ok: boolean }[] = [];

const world = await openWorld({ items: 200, sites: 6, faults: ['export:malformed@1'] });
try {
  await copyEmpty();
  await copySpliced();
  await copyAndChange(world);
  const current = world.lakePath;
  const writes = engines.flatMap(planWrites);
  for (const { lake, from } of writes) if (from === undefined) await cp(current, lake, { recursive: true });
  await writeForeign(writes);
  for (const write of writes) await goOn(world, write);
  // Last, because the service moves on: a rebuilt lake is compared with the service as it was.
  await compactAndRetain(world, current);
} finally {
  await world.close();
}
await writeFile(join(folder, 'commands.json'), JSON.stringify(commands, null, 1));

async function copyEmpty(): Promise<void> {
  const quiet = await openWorld({ items: 20, sites: 2, history: 'none' });
  try {
    await quiet.sync();
    await keepState('empty', quiet.lakePath, { title: 'with no rows in some tables', plain: true, hasEmpty: true });
  } finally {
    await quiet.close();
  }
}

/** Each run encodes some row groups of a large file again, and copies the others. Other programs write all rows between. */
async function copySpliced(): Promise<void> {
  const large = await openWorld({ items: 40_000, sites: 1, history: 'none' });
  const lake = large.lakePath;
  const programs = new Map(engines.map((engine, index) => [30 * (index + 1), engine]));
  try {
    await large.sync();
    for (let n = 0; n < 100; n++) {
      await large.sandbox.advance({ hours: 1, changes: 20 });
      await large.sync();
      const engine = programs.get(n);
      if (engine !== undefined)
        await writeForeign([{ engine, operation: 'ZORDER', lake, tables: ['items', 'offers'] }]);
    }
    const isExact = isDeepStrictEqual(await readItems(lake), await readTruth(large.sandbox));
    const result = isExact ? 'equal' : 'different';
    commands.push({ state: 'spliced', command: 'items against the service', result, ok: isExact });
    await run('spliced', 'verify', () => runVerify({ lake }, openContext(true)));
    const groups = await withDatabase((db) =>
      db.row(`SELECT count(DISTINCT row_group_id) AS n FROM parquet_metadata('${lake}/items/*.parquet')`),
    );
    if (groups?.n === 1n) throw new Error('spliced: items have one row group, and would prove nothing');
    await keepState('spliced', lake, {
      title: 'after 100 runs, between which other programs rewrote large files',
      plain: true,
      hasEmpty: true,
    });
  } finally {
    await large.close();
  }
}

async function writeForeign(writes: readonly Write[]): Promise<void> {
  await writeFile(join(folder, 'writes.json'), JSON.stringify(writes));
  execFileSync(python, [join(import.meta.dirname, 'foreign_writes.py'), join(folder, 'writes.json')], {
    stdio: 'inherit',
  });
}

async function copyAndChange(world: World): Promise<void> {
  configure(world);
  await world.sync();
  for (let day = 0; day < 2; day++) await advance(world);
  await keepState('current', world.lakePath, { title: 'after three runs', plain: true });
}

async function compactAndRetain(world: World, current: string): Promise<void> {
  renew(world, current);
  await advance(world);
  await runCompact({ lake: world.lakePath }, openContext(true));
  await keepState('compacted', world.lakePath, { title: 'after `compact`', plain: true });
  renew(world, current);
  world.pipeline.lake.retention = 48 * 3_600_000;
  await advance(world);
  await keepState('retained-before', world.lakePath, { title: 'with a retention', plain: false });
  await advance(world);
  await keepState('retained', world.lakePath, { title: 'with a retention, a run later', plain: false });
}

/** A day passes, so that price_spread_daily gets one more. */
async function advance(world: World): Promise<void> {
  await world.sandbox.advance({ hours: 24, changes: 60 });
  world.clock.days += 1;
  await world.sync();
}

function planWrites(engine: string): Write[] {
  const lake = (name: string) => join(folder, 'foreign', `${engine} ${name}`);
  return [
    { engine, operation: 'OPTIMIZE', lake: lake('OPTIMIZE'), tables: TABLE_NAMES },
    { engine, operation: 'VACUUM', lake: lake('VACUUM'), from: lake('OPTIMIZE'), tables: TABLE_NAMES },
    { engine, operation: 'DELETE', lake: lake('DELETE items'), tables: ['items'], where: 'item_id % 7 = 0' },
    { engine, operation: 'DELETE', lake: lake('DELETE history'), tables: ['history'], where: 'item_id % 7 = 0' },
  ];
}

/** Keeps what the other program left, and what our next commands make of it. */
async function goOn(world: World, write: Write): Promise<void> {
  const { engine, operation, lake, tables, where } = write;
  const state = operation === 'DELETE' ? `${engine} DELETE ${tables.join()}` : `${engine} ${operation}`;
  const what =
    operation === 'VACUUM'
      ? 'OPTIMIZE and VACUUM of every table'
      : `${operation} of ${where === undefined ? 'every table' : tables.join()}`;
  await keepState(state, lake, { title: `after ${what} by ${engine}`, plain: false }, 'current');
  if (where !== undefined) await deleteExpected(state, tables, where);
  renew(world, lake);
  if (where === undefined) await run(state, 'sync', () => world.sync());
  else {
    await run(state, 'sync', () => world.sync(), /^refused: .*DELETE/);
    if (tables.includes('items')) {
      world.pipeline.source.mode = 'snapshot';
      await run(state, 'sync --reconcile', () => world.sync());
    } else await run(state, 'rebuild', () => runRebuild({ lake: world.lakePath }, openContext(true)));
  }
  const repair = commands.at(-1)?.command;
  await run(state, 'verify', () => runVerify({ lake: world.lakePath }, openContext(true)));
  const isExact = isDeepStrictEqual(await readItems(world.lakePath), await readTruth(world.sandbox));
  commands.push({ state, command: 'items against the service', result: isExact ? 'equal' : 'different', ok: isExact });
  await keepState(`${state}, ours`, world.lakePath, { title: `the same, after \`${repair}\``, plain: true });
}

function renew(world: World, copyOf: string): void {
  world.renew(copyOf);
  configure(world);
}

/** So that no table is empty. */
function configure({ pipeline }: World): void {
  pipeline.source.products = 'all';
  pipeline.analysis.words.used = ['gently loved'];
  pipeline.userMatches = [{ productId: '64731637454', otherId: '5932088592397', isMatch: true }];
}

/** `right` is what the result must be like. */
async function run(state: string, command: string, action: () => Promise<unknown>, right = /^accepted$/) {
  const result = await action().then(() => 'accepted', describe);
  commands.push({ state, command, result, ok: right.test(result) });
}

function describe(error: unknown): string {
  if (!(error instanceof PricelakeError)) return `failed: ${String(error)}`;
  return `refused: ${error.code}, ${error.message.replaceAll(/\S*\/(?=\w+: )/g, '')}`;
}

async function deleteExpected(state: string, tables: readonly TableName[], where: string): Promise<void> {
  await withDatabase(async (db) => {
    for (const table of tables) {
      const rows = `FROM '${expectedPath('current', table)}' WHERE NOT coalesce(${where}, false)`;
      await db.run(`COPY (${rows}) TO '${expectedPath(state, table)}' (FORMAT parquet)`);
    }
  });
}

interface StateFacts {
  /** What the lake has gone through. */
  title: string;
  /** False where plain reads don't give the table: superseded files, files older than a column, or in folders. */
  plain: boolean;
  /** True where tables without rows are the point. */
  hasEmpty?: boolean;
}

/** Without spaces: Polars does not find the files of a Delta table in such a path. */
function stateFolder(state: string): string {
  return join(folder, state.replaceAll(/[ ,]+/g, '-'));
}

function expectedPath(state: string, table: string): string {
  return join(stateFolder(state), 'expected', `${table}.parquet`);
}

/** Copies a lake as it stands. What readers must find there is every row by our own views, or the rows of state `sameAs`. */
async function keepState(state: string, lakePath: string, facts: StateFacts, sameAs?: string): Promise<void> {
  await cp(lakePath, join(stateFolder(state), 'lake'), { recursive: true });
  const expected = join(stateFolder(state), 'expected');
  if (sameAs !== undefined) await cp(join(stateFolder(sameAs), 'expected'), expected, { recursive: true });
  else {
    await mkdir(expected, { recursive: true });
    await withDatabase(async (db) => {
      await createTableViews(db, await openLake(lakePath, { create: false }));
      for (const table of TABLE_NAMES) {
        const row = await db.row(`SELECT count(*) AS n FROM ${table}`);
        if (row?.n === 0n && facts.hasEmpty !== true && table !== 'stale_items')
          throw new Error(`${state}: ${table} has no rows, and would prove nothing`);
        await db.run(`COPY ${table} TO ${quoteLiteral(expectedPath(state, table))} (FORMAT parquet)`);
      }
    });
  }
  await appendFile(join(folder, 'states.ndjson'), `${JSON.stringify({ state, ...facts })}\n`);
}

async function withDatabase<T>(work: (db: Database) => Promise<T>): Promise<T> {
  const db = await Database.open({ threads: 2 });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}
