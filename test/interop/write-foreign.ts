import { execFileSync } from 'node:child_process';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { runRebuild } from '../../src/cli/actions/run-rebuild.js';
import { runVerify } from '../../src/cli/actions/run-verify.js';
import { PricelakeError } from '../../src/io/errors.js';
import { TABLE_NAMES, type TableName } from '../../src/tables/table.js';
import { openContext } from '../cli/open-context.js';
import { openWorld, readItems, readTruth, type World } from '../run/world.js';
import { copyState, keepState, stateFolder, withDatabase } from './keep-state.js';

/**
 * Writes lakes that other programs write to, before and after what pricelake does next:
 * `write-foreign.ts <folder> <python> <engine>…`. Engines are `delta-rs` and `Spark`; `foreign_writes.py` runs them.
 */
const [folder = '', python = '', ...engines] = process.argv.slice(2);
if (engines.length === 0) throw new Error('usage: write-foreign.ts <folder> <python> <engine>…');

interface Write {
  engine: string;
  operation: 'OPTIMIZE' | 'VACUUM' | 'DELETE';
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
  await copyAndChange(world);
  const writes = engines.flatMap(planWrites);
  for (const { lake, from } of writes) if (from === undefined) await cp(world.lakePath, lake, { recursive: true });
  await writeFile(join(folder, 'writes.json'), JSON.stringify(writes));
  execFileSync(python, [join(import.meta.dirname, 'foreign_writes.py'), join(folder, 'writes.json')], {
    stdio: 'inherit',
  });
  for (const write of writes) await goOn(world, write);
} finally {
  await world.close();
}
await writeFile(join(folder, 'commands.json'), JSON.stringify(commands, null, 1));

/** A lake with no rows in some tables, and the same with rows in all. */
async function copyAndChange(world: World): Promise<void> {
  const quiet = await openWorld({ items: 20, sites: 2, history: 'none' });
  try {
    await quiet.sync();
    await keepState(folder, 'empty', quiet.lakePath, {
      title: 'with no rows in some tables',
      plain: true,
      hasEmpty: true,
    });
  } finally {
    await quiet.close();
  }
  world.pipeline.source.products = 'all';
  await world.sync();
  for (let day = 0; day < 2; day++) {
    await world.sandbox.advance({ hours: 24, changes: 30 });
    world.clock.days += 1;
    await world.sync();
  }
  await keepState(folder, 'current', world.lakePath, { title: 'after three runs', plain: true });
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
  await copyState(folder, 'current', state, lake, { title: `after ${what} by ${engine}`, plain: false });
  if (where !== undefined) await deleteExpected(state, tables, where);
  renew(world, lake);
  if (where === undefined) await run(state, 'sync', () => world.sync());
  else {
    await refuse(state, 'sync', () => world.sync());
    if (tables.includes('items')) {
      world.pipeline.source.mode = 'snapshot';
      await run(state, 'sync --reconcile', () => world.sync());
    } else await run(state, 'rebuild', () => runRebuild({ lake: world.lakePath }, openContext(true)));
  }
  const repair = commands.at(-1)?.command;
  await run(state, 'verify', () => runVerify({ lake: world.lakePath }, openContext(true)));
  const isExact = isDeepStrictEqual(await readItems(world.lakePath), await readTruth(world.sandbox));
  commands.push({ state, command: 'items against the service', result: isExact ? 'equal' : 'different', ok: isExact });
  await keepState(folder, `${state}, ours`, world.lakePath, { title: `the same, after \`${repair}\``, plain: true });
}

function renew(world: World, copyOf: string): void {
  world.renew(copyOf);
  world.pipeline.source.products = 'all';
}

async function run(state: string, command: string, action: () => Promise<unknown>): Promise<void> {
  try {
    await action();
    commands.push({ state, command, result: 'accepted', ok: true });
  } catch (error) {
    commands.push({ state, command, result: describe(error), ok: false });
  }
}

async function refuse(state: string, command: string, action: () => Promise<unknown>): Promise<void> {
  await run(state, command, action);
  const last = commands.at(-1);
  if (last === undefined) return;
  last.ok = /^refused: .*DELETE/.test(last.result);
}

function describe(error: unknown): string {
  if (!(error instanceof PricelakeError)) return `failed: ${String(error)}`;
  return `refused: ${error.code}, ${error.message.replaceAll(/\S*\/(?=\w+: )/g, '')}`;
}

async function deleteExpected(state: string, tables: readonly TableName[], where: string): Promise<void> {
  await withDatabase(async (db) => {
    for (const table of tables) {
      const from = join(folder, 'current', 'expected', `${table}.parquet`);
      const to = join(stateFolder(folder, state), 'expected', `${table}.parquet`);
      await mkdir(join(stateFolder(folder, state), 'expected'), { recursive: true });
      await db.run(`COPY (FROM '${from}' WHERE NOT coalesce(${where}, false)) TO '${to}' (FORMAT parquet)`);
    }
  });
}
