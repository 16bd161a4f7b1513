import { appendFileSync } from 'node:fs';
import { openLake } from '../../src/lake/lake.js';
import { Database } from '../../src/sql/connection.js';
import { verifyLake } from '../../src/verify/verify-lake.js';
import { openWorld, testIo, type World } from '../run/world.js';
import { makeEngine } from '../workers/cluster.js';
import { landHardRows, readRows } from '../workers/hard-copy.js';

/**
 * Landings with values that are hard to type are synced twice, here and with a Spark cluster that does all it can. All tables
 * are compared; then both lakes continue: `try-engine.ts <version> <command that submits a script> …`.
 */
const [version = '', ...submit] = process.argv.slice(2);
const failures: string[] = [];

function check(name: string, ok: boolean, detail = ''): void {
  process.stdout.write(`${ok ? 'ok    ' : 'FAILED'} ${name}${ok ? '' : `: ${detail}`}\n`);
  if (!ok) failures.push(name);
}

function note(what: string, result: string): void {
  const { RESULTS } = process.env;
  if (RESULTS !== undefined) appendFileSync(RESULTS, `${JSON.stringify({ tool: 'Spark', version, what, result })}\n`);
}

function compare(mine: Record<string, string[]>, its: Record<string, string[]>): void {
  for (const [table, rows] of Object.entries(mine)) {
    const others = its[table] ?? [];
    const at = rows.findIndex((row, place) => row !== others[place]);
    const isEqual = at < 0 && rows.length === others.length;
    check(`${table}: ${rows.length} rows`, isEqual, `${others.length} rows;\n  ${rows[at]}\n  ${others[at]}`);
  }
}

/** Findings of `verify`, except that the landed bytes are not those that came: these were changed here. */
async function prove(path: string): Promise<void> {
  const db = await Database.open({ threads: 2 });
  const lake = await openLake(path, { create: false });
  const proofs = await verifyLake(lake, db, { signal: new AbortController().signal }, testIo);
  await db.close();
  const failed = proofs.filter(({ name, found }) => found > 0 && name !== 'landing');
  const text = failed.map(({ name, findings }) => `${name}: ${JSON.stringify(findings.slice(0, 2))}`).join('\n');
  check('verify finds nothing', failed.length === 0, text.slice(0, 3000));
}

/** Runs on Spark. Returns the number of rows of the lake. */
async function syncBoth(world: World, format: 'ndjson' | 'csv'): Promise<number> {
  const landed = await landHardRows(world, format);
  await world.sync();
  const here = await readRows(world.lakePath);
  world.renew(landed);
  world.pipeline.engine = makeEngine(submit);
  await world.sync();
  compare(here, await readRows(world.lakePath));
  await world.sandbox.advance({ hours: 2, changes: 40 });
  const { row } = await world.sync();
  check('the next run on Spark has caught up', row.caught_up, row.reason);
  world.pipeline.source = { ...world.pipeline.source, mode: 'snapshot' };
  await world.sandbox.advance({ hours: 2, changes: 40 });
  const { row: copied } = await world.sync();
  check('a complete copy later on Spark has caught up', copied.caught_up, copied.reason);
  await prove(world.lakePath);
  return Object.values(here).reduce((sum, rows) => sum + rows.length, 0);
}

const world = await openWorld({ items: 400, sites: 5, pastDays: 4 });
try {
  let rows = 0;
  for (const format of ['ndjson', 'csv'] as const) {
    rows += await syncBoth(world, format);
    world.renew();
  }
  const what = '`sync` with `engine.spark`, first copies with hard values in NDJSON and CSV';
  note(what, failures.length === 0 ? `${rows.toLocaleString('en')} rows, equal` : `**${failures[0]}**`);
} finally {
  await world.close();
}
process.stdout.write(failures.length === 0 ? 'all passed\n' : `${failures.length} failed\n`);
process.exitCode = failures.length === 0 ? 0 : 1;
