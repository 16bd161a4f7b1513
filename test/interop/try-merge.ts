import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openLake } from '../../src/lake/lake.js';
import { createTableViews } from '../../src/lake/views.js';
import { landPipeline } from '../../src/run/land-pipeline.js';
import type { RunReport } from '../../src/run/sync.js';
import { Database } from '../../src/sql/connection.js';
import { loadTableSchema } from '../../src/tables/schemas.js';
import type { TableName } from '../../src/tables/table.js';
import { verifyLake } from '../../src/verify/verify-lake.js';
import { openWorld, testIo, type World } from '../run/world.js';
import { harden } from './hard-rows.js';

/**
 * One landing is merged twice, by pricelake and by pipelines/spark/merge.py, and all tables are compared; then both lakes
 * continue: `try-merge.ts <version> at-once|stopped <command that submits a script> …`. Every row of the exports that counts has a value
 * that is hard to type.
 */
const [version = '', way = '', ...submit] = process.argv.slice(2);
const failures: string[] = [];

function check(name: string, ok: boolean, detail = ''): void {
  process.stdout.write(`${ok ? 'ok    ' : 'FAILED'} ${name}${ok ? '' : `: ${detail}`}\n`);
  if (!ok) failures.push(name);
}

function note(what: string, result: string): void {
  const { RESULTS } = process.env;
  if (RESULTS !== undefined) appendFileSync(RESULTS, `${JSON.stringify({ tool: 'Spark', version, what, result })}\n`);
}

function run(script: string, ...options: string[]): string {
  const [command = '', ...args] = submit;
  const { status, stdout, stderr } = spawnSync(command, [...args, script, ...options], { encoding: 'utf8' });
  if (status !== 0) process.stdout.write(`${stdout}\n${stderr.split('\n').slice(-60).join('\n')}\n`);
  if (status !== 0) throw new Error(`${script} ended with ${status}`);
  return stdout;
}

/** Rows of tables that two lakes don't share, by table: what dates them is left out. */
async function compareLakes(
  ours: string,
  theirs: string,
  tables: readonly TableName[],
  more: string[] = [],
): Promise<void> {
  const dated = ['valid_from', 'valid_to', 'rejected_at', 'first_read_at', 'checked_at', 'read_at', ...more];
  const rows: Record<string, string[]>[] = [];
  const stale = await listStale(theirs);
  for (const path of [ours, theirs]) {
    const db = await Database.open({ threads: 2 });
    await createTableViews(db, await openLake(path, { create: false }));
    const found: Record<string, string[]> = {};
    for (const table of tables) {
      const columns = loadTableSchema(table).columns.filter(
        ({ name }) => !dated.includes(name) || (table === 'items' && name === 'read_at' && more.length === 0),
      );
      const list = await db.rows(
        `SELECT to_json({${columns.map(({ name, type }) => `"${name}": ${type === 'DOUBLE' ? name : `"${name}"::VARCHAR`}`).join(', ')}})::VARCHAR AS row FROM ${table} ${table === 'items' ? `WHERE item_id NOT IN (${stale})` : ''} ORDER BY row`,
      );
      // Each reader of JSON says in its own words what is wrong.
      found[table] = list.map(({ row }) => String(row).replace(/not valid JSON: .*?","raw/, 'not valid JSON","raw'));
    }
    rows.push(found);
    await db.close();
  }
  const [a = {}, b = {}] = rows;
  for (const table of tables) {
    const [mine = [], its = []] = [a[table], b[table]];
    const first = mine.findIndex((row, at) => row !== its[at]);
    const at = first < 0 ? mine.length : first;
    check(
      `${table}: ${mine.length} rows`,
      mine.join('\n') === its.join('\n'),
      `${its.length} rows;\n  ${mine[at]}\n  ${its[at]}`,
    );
  }
}

/** Items of which the next run reads again what changed: it is ahead of the copy. */
async function listStale(path: string): Promise<string> {
  const db = await Database.open({ threads: 1 });
  await createTableViews(db, await openLake(path, { create: false }), ['stale_items']);
  const rows = await db.rows('SELECT item_id FROM stale_items');
  await db.close();
  return ['-1', ...rows.map(({ item_id }) => String(item_id))].join(', ');
}

/** What speaks against a lake; that the landed bytes are not those that came is known. */
async function prove(path: string): Promise<string[]> {
  const db = await Database.open({ threads: 2 });
  const lake = await openLake(path, { create: false });
  const proofs = await verifyLake(lake, db, { signal: new AbortController().signal }, testIo);
  await db.close();
  const failed = proofs.filter(({ name, found }) => found > 0 && name !== 'landing');
  return failed.map(({ name, findings }) => `${name}: ${JSON.stringify(findings.slice(0, 2))}`);
}

function findSegments(folder: string): string[] {
  const journal = readFileSync(join(folder, 'journal.ndjson'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; file?: string });
  return journal.filter(({ type }) => type === 'export.segment').map(({ file }) => join(folder, file ?? ''));
}

const LANDED: readonly TableName[] = ['items', 'history', 'sites', 'rejects'];
const MADE: readonly TableName[] = [
  'products',
  'product_prices',
  'shop_currencies',
  'offers',
  'price_spread',
  'matches',
];

/** Lands a first copy with hard values. Returns lakes that hold it: ours is synced, theirs is to be merged. */
async function landTwice(world: World, format: 'ndjson' | 'csv'): Promise<{ ours: string; theirs: string }> {
  world.pipeline.source.export = format;
  const ours = world.lakePath;
  const landed = await landPipeline(world.pipeline, testIo);
  for (const segment of findSegments(landed.folder)) harden(segment);
  const theirs = `${ours}-spark`;
  cpSync(ours, theirs, { recursive: true });
  await world.sync();
  return { ours, theirs };
}

async function syncLake({ pipeline, sync }: World, path: string): Promise<RunReport> {
  const { lake } = pipeline;
  pipeline.lake = { ...lake, path };
  const report = await sync();
  pipeline.lake = lake;
  return report;
}

/** Both lakes are equal, continue, and stay equal when the service has changed. */
async function continueBoth(world: World, ours: string, theirs: string): Promise<void> {
  await compareLakes(ours, theirs, LANDED);
  const continued = await syncLake(world, theirs);
  check('sync continues the run', continued.published && continued.resumed);
  check('and asks for no export', world.requests.filter((url) => url.startsWith('/export')).length === 1);
  await world.sandbox.advance({ hours: 2, changes: 40 });
  for (const path of [ours, theirs]) {
    const { row } = await syncLake(world, path);
    check('the next run has caught up', row.caught_up, row.reason);
  }
  const undated = ['run_id', 'change_id', 'last_seen_at'];
  await compareLakes(ours, theirs, ['items', 'history', 'sites', ...MADE], undated);
  const findings = await prove(theirs);
  check('verify finds nothing', findings.length === 0, findings.join('\n').slice(0, 3000));
}

/** What each stopped try left, `sync` takes over. */
async function takeOver(world: World, ours: string, copies: string): Promise<number> {
  const stops = readdirSync(copies).filter((name) => name.startsWith('stop-'));
  for (const stop of stops.sort()) {
    const path = join(copies, stop);
    const { published } = await syncLake(world, path);
    check(`${stop}: sync takes over`, published);
    await compareLakes(ours, path, LANDED);
    const findings = await prove(path);
    check(`${stop}: verify finds nothing`, findings.length === 0, findings.join('\n').slice(0, 3000));
  }
  return stops.length;
}

const EQUAL = 'items, history, sites, rejects and reasons equal; continued by `sync`';

async function mergeAtOnce(world: World): Promise<string> {
  const { ours, theirs } = await landTwice(world, 'ndjson');
  process.stdout.write(run('pipelines/spark/merge.py', '--lake', theirs));
  await continueBoth(world, ours, theirs);
  return EQUAL;
}

async function mergeInTries(world: World): Promise<string> {
  const { ours, theirs } = await landTwice(world, 'csv');
  const copies = `${theirs}-copies`;
  process.stdout.write(run('test/interop/stop_merge.py', '--lake', theirs, '--copies', copies));
  const stops = await takeOver(world, ours, copies);
  await continueBoth(world, ours, theirs);
  return `stopped before each of ${stops} steps, and merged again, or taken over by \`sync\`: ${EQUAL}`;
}

const world = await openWorld({ items: 400, sites: 5, pastDays: 4 });
try {
  const format = way === 'stopped' ? 'CSV' : 'NDJSON';
  const result = await (way === 'stopped' ? mergeInTries(world) : mergeAtOnce(world));
  note(`\`merge.py\`, a landing in ${format}`, failures.length === 0 ? result : `**${failures[0]}**`);
} finally {
  await world.close();
}
process.stdout.write(failures.length === 0 ? 'all passed\n' : `${failures.length} failed\n`);
process.exitCode = failures.length === 0 ? 0 : 1;
