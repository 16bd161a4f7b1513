import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCheckCommand } from '../../src/cli/actions/run-check.js';
import { runCompact } from '../../src/cli/actions/run-compact.js';
import { runQuery } from '../../src/cli/actions/run-query.js';
import { runRebuild } from '../../src/cli/actions/run-rebuild.js';
import { runVerify } from '../../src/cli/actions/run-verify.js';
import { showSpread } from '../../src/cli/actions/show-spread.js';
import { showStatus } from '../../src/cli/actions/show-status.js';
import { writeManifest } from '../../src/cli/actions/write-manifest.js';
import { writeReport } from '../../src/cli/actions/write-report.js';
import { exitCodeOf } from '../../src/cli/exit-codes.js';
import { Database } from '../../src/duckdb/connection.js';
import { estimateRun } from '../../src/estimate/estimate-run.js';
import { loadTableSchema } from '../../src/tables/schemas.js';
import type { TableName } from '../../src/tables/table.js';
import { openContext } from '../cli/open-context.js';
import { readDeltaTable } from './delta-reader.js';
import { type Columns, withoutColumns, writeOlderLake } from './older-lake.js';
import { openWorld, readItems, readTruth, testIo, type World } from './world.js';

/** What the older version's tables lack: first, last and required columns among them. */
const LACKING: Columns = {
  items: ['gone_at', 'extra'],
  history: ['url'],
  runs: ['tries', 'export_rows_landed', 'differences', 'gone', 'usage_calls', 'caught_up_at', 'products_compared'],
  check_results: ['let_through'],
  price_spread_daily: ['stddev', 'attribution'],
  price_spread: loadTableSchema('price_spread')
    .columns.map(({ name }) => name)
    .filter((name) => /^(?:grade|trusted_|unit|left_out)/.test(name)),
};
const LACKING_TABLES: readonly TableName[] = ['offers', 'shop_currencies'];

let world: World;
/** A lake of this version after two runs, and the same as an older version would have written it. */
let current: string;
let older: string;

beforeAll(async () => {
  world = await openWorld({ items: 40, sites: 2 });
  await world.sync();
  await world.sandbox.advance({ hours: 6, changes: 10 });
  await world.sync();
  current = world.lakePath;
  older = path.join(world.folder, 'older');
  await writeOlderLake(current, older, LACKING, LACKING_TABLES);
  await world.sandbox.advance({ hours: 6, changes: 10 });
});
afterAll(() => world.close());

const ANY_SPREAD = { minShops: 2, top: 20, outliers: true, grade: 'B' as const };

type Action = (context: ReturnType<typeof openContext>) => Promise<unknown>;

/** What a command writes. */
async function run(action: Action): Promise<string> {
  const context = openContext();
  await action(context);
  return context.output.text;
}

const status = () => run((context) => showStatus({ lake: world.lakePath }, context));
const verify = () => run((context) => runVerify({ lake: world.lakePath }, context));
const compact = () => run((context) => runCompact({ lake: world.lakePath }, context));
const rebuild = () => run((context) => runRebuild({ lake: world.lakePath }, context));
const query = (sql: string) =>
  run((context) => runQuery({ sql, lake: world.lakePath, memory: '1GB', format: 'ndjson' }, context));
const manifest = (table: TableName, format: Parameters<typeof writeManifest>[0]['format']) =>
  run((context) => writeManifest({ table, lake: world.lakePath, format, base: 's3://bucket/lake' }, context));
const failure = (work: Promise<unknown>) =>
  work.then(
    () => expect.unreachable('it should have failed'),
    (error: unknown) => error,
  );

/** In how many rows of the ledger a column stands that the older version did not write. */
const countTries = () => query('SELECT count(*) AS runs, count(tries) AS told FROM runs');

test('a lake of an older version is read, checked, reported and verified as it stands, and says that it is one', async () => {
  world.renew(older);
  expect(await query('SELECT count(gone_at) AS gone, count(*) > 0 AS any FROM items')).toBe('{"gone":0,"any":true}\n');
  expect(await countTries()).toBe('{"runs":2,"told":0}\n');
  expect(await run((context) => runCheckCommand({ lake: world.lakePath, failOn: 'error' }, context))).toContain('ok');
  expect(await run((context) => showSpread({ lake: world.lakePath, ...ANY_SPREAD }, context))).toContain('spread %');
  const output = path.join(world.folder, 'report.html');
  await run((context) => writeReport({ lake: world.lakePath, output, top: 3 }, context));
  expect(await status()).toContain(
    'an older version wrote items, without columns gone_at, extra: the next run that writes the table adds them, NULL in older rows\n',
  );
  expect(await verify()).toContain(
    'logs: check_results is of an older version: its next commit adds column let_through\n',
  );
  const catalog = path.join(world.lakePath, 'catalog.sql');
  await writeFile(catalog, (await readFile(catalog, 'utf8')).slice(0, -5));
  expect(await failure(verify())).toMatchObject({ message: '1 of 13 proofs failed: pointer (1)' });
});

test('the next run adds the columns; older files stay and are null in them for every reader, until they are compacted', async () => {
  world.renew(older);
  const { files } = await readDeltaTable(path.join(world.lakePath, 'runs'));
  expect(await world.sync()).toMatchObject({ published: true, row: { mode: 'feed' } });
  expect((await readDeltaTable(path.join(world.lakePath, 'runs'))).files).toEqual(expect.arrayContaining(files));
  expect(await countTries()).toBe('{"runs":3,"told":1}\n');
  expect(await readCatalog('runs', 'tries')).toEqual([3n, 1n]);
  expect(await status()).not.toMatch(/^an older version wrote (items|history|runs|check_results)/m);
  expect(await verify()).toMatch(/footers: 1 file of check_results lacks column let_through: null in its rows\n/);
  expect(await manifest('history', 'json')).toContain('"missing_columns":["url"]');
  expect(await failure(manifest('history', 'redshift'))).toMatchObject({
    code: 'usage',
    message: expect.stringMatching(/^\d+ of \d+ files of history are older than its column url; Redshift/),
  });

  expect(await compact()).toMatch(/^history /m);
  expect(await verify()).not.toContain('null in');
  expect(await manifest('history', 'redshift')).toContain('content_length');
  expect(await countTries()).toBe('{"runs":3,"told":1}\n');
  expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
  expect(await compact()).toContain('No table');
});

test('the next run judges the offers of a lake that has no table for it, and grades its spreads', async () => {
  world.renew(older);
  await world.sync();
  expect(await query('SELECT count(*) > 0 AS offers FROM offers')).toBe('{"offers":true}\n');
  expect(await query('SELECT count(*) AS ungraded FROM price_spread WHERE grade IS NULL')).toBe('{"ungraded":0}\n');
  await verify();
});

test('a complete copy is compared with a lake of an older version', async () => {
  world.renew(older);
  world.pipeline.source.mode = 'snapshot';
  expect(await world.sync()).toMatchObject({ published: true, row: { mode: 'snapshot', gone: 0n } });
  await compact();
  expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
});

test('a lake of a newer version is left alone before anything is asked; what is known of it can be read', async () => {
  world.renew(current);
  await withoutColumns({ runs: ['usage_calls', 'usage_export_rows'] }, async () => {
    const before = await readFiles();
    for (const work of [() => world.sync(), () => estimateRun(world.pipeline, testIo), compact, rebuild]) {
      const error = await failure(work());
      expect(exitCodeOf(error)).toBe(2);
      expect(error).toMatchObject({
        code: 'lake_invalid',
        message: expect.stringMatching(/runs: a newer version wrote it; .* columns usage_calls, usage_export_rows and/),
        facts: { hint: expect.stringContaining('or a newer one') },
      });
    }
    expect(world.requests).toEqual([]);
    expect(await readFiles()).toEqual(before);
    expect(await status()).toContain('a newer version wrote runs, with columns usage_calls, usage_export_rows: ');
    expect(await query('SELECT count(*) AS n FROM runs')).toBe('{"n":2}\n');
    expect(await failure(verify())).toMatchObject({ code: 'verify_failed' });
  });
});

test('a table of a newer version is not dropped from lake.json', async () => {
  world.renew(current);
  const pointer = path.join(world.lakePath, 'lake.json');
  await writeFile(pointer, (await readFile(pointer, 'utf8')).replace('"items": {', '"forecasts": {'));
  expect(await failure(world.sync())).toMatchObject({
    code: 'lake_invalid',
    message: expect.stringContaining('does not know table forecasts'),
  });
  expect(world.requests).toEqual([]);
});

test('a column of another type is read as no other; a rebuild makes the lake again, with all columns', async () => {
  const expected = await readItems(current);
  world.renew(older);
  const log = path.join(world.lakePath, 'items', '_delta_log', '00000000000000000000.json');
  const text = await readFile(log, 'utf8');
  const before = String.raw`{\"name\":\"source_id\",\"type\":\"long\"`;
  await writeFile(log, text.replace(before, before.replace('long', 'string')));
  for (const work of [() => world.sync(), compact, () => query('SELECT 1')]) {
    expect(await failure(work())).toMatchObject({
      code: 'lake_invalid',
      message: expect.stringMatching(/items: column source_id is string, schemas\/items.yaml .* says long; /),
      facts: { hint: expect.stringContaining('rebuild') },
    });
  }
  expect(await failure(verify())).toMatchObject({ message: expect.stringContaining('logs (1)') });
  await rebuild();
  expect(world.requests).toEqual([]);
  expect(await readItems(world.lakePath)).toEqual(expected);
  // What only the older version could have told stays null, and the checks' results stay as they were.
  expect(await countTries()).toBe('{"runs":2,"told":0}\n');
  expect(await verify()).toMatch(/footers: 1 file of check_results/);
});

/** How many rows a table has, and in how many a column is not null, by catalog.sql in a DuckDB of its own. */
async function readCatalog(table: string, column: string): Promise<unknown[]> {
  const db = await Database.open();
  try {
    await db.run(`SET file_search_path = '${world.lakePath}'`);
    await db.run(await readFile(path.join(world.lakePath, 'catalog.sql'), 'utf8'));
    return Object.values((await db.row(`SELECT count(*), count(${column}) FROM ${table}`)) ?? {});
  } finally {
    await db.close();
  }
}

const readFiles = () => readdir(world.lakePath, { recursive: true });
