import { appendFile, cp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runRebuild } from '../../src/cli/actions/run-rebuild.js';
import { runVerify } from '../../src/cli/actions/run-verify.js';
import type { Io } from '../../src/io/io.js';
import { encodeLogPath } from '../../src/lake/delta-actions.js';
import { inspectLake } from '../../src/lake/inspect-lake.js';
import { openLake } from '../../src/lake/lake.js';
import { readTable } from '../../src/lake/read.js';
import { TABLE_NAMES, type TableName } from '../../src/tables/table.js';
import { rebuildWithWings, syncWithWings } from '../../src/wings/index.js';
import { openContext } from '../cli/open-context.js';
import { failure } from '../failure.js';
import { commitForeign, deleteRows, listLog, optimize, vacuum } from '../lake/foreign-writer.js';
import { passCheckpoint } from '../verify/lake-copies.js';
import { findFaults } from '../verify/proofs.js';
import { openWorld, readItems, readLoggedTables, readTruth, testIo } from './world.js';

/** A lake after a first copy, a run with changes and a complete comparison. The service has changed since. */
let original: string;
let before: Record<string, string[]>;
const { signal } = new AbortController();

const world = await openWorld({ items: 20, sites: 2, pastDays: 2 });
beforeAll(async () => {
  await world.sync();
  await world.sandbox.advance({ hours: 6, changes: 10 });
  await world.sync();
  await world.sandbox.advance({ hours: 6, changes: 6 });
  world.pipeline.source.mode = 'snapshot';
  await world.sync();
  original = world.lakePath;
  before = await readLoggedTables(original);
});
afterAll(() => world.close());

beforeEach(() => world.renew(original));

const verify = () => runVerify({ lake: world.lakePath }, openContext(true));
const inLake = (...parts: string[]) => path.join(world.lakePath, ...parts);
const rebuild = (options = {}) => rebuildWithWings(world.pipeline, testIo, signal, options);
/** The tables that differ from before. */
async function listDifferent(tables: readonly TableName[] = TABLE_NAMES): Promise<string[]> {
  const after = await readLoggedTables(world.lakePath);
  return tables.filter((table) => JSON.stringify(after[table]) !== JSON.stringify(before[table]));
}

async function expectSound(): Promise<void> {
  expect((await inspectLake(await openLake(world.lakePath, { create: false }))).damaged.size).toBe(0);
}

async function removeLandings(count: number): Promise<void> {
  const names = (await readdir(inLake('_pricelake', 'landing'))).sort();
  for (const name of names.slice(0, count)) await rm(inLake('_pricelake', 'landing', name), { recursive: true });
}

async function cutLastLine(file: string): Promise<void> {
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1));
}

/** Without this id, the next run would copy everything again. */
async function changeLetter(file: string): Promise<void> {
  await writeFile(file, (await readFile(file, 'utf8')).replace('"pricelake.cursor"', '"pricelake.cursos"'));
}

const lastEntry = async (table: TableName) => (await listLog(world.lakePath, table)).at(-1) ?? '';

/** The row counts of each run in the ledger add up. */
async function expectEquations(): Promise<void> {
  const { runs = [] } = await readLoggedTables(world.lakePath);
  expect(runs).toHaveLength(3);
  for (const row of runs) {
    const { received, written, rejected, deduplicated } = JSON.parse(row);
    expect([row, received]).toEqual([row, written + rejected + deduplicated]);
  }
}

const DAMAGES: [string, () => Promise<void>][] = [
  ['a truncated log entry', async () => truncate(await lastEntry('price_spread'), 200)],
  ['a log entry that is cut off between two lines', async () => cutLastLine(await lastEntry('sites'))],
  ['a log entry with an altered letter in an id', async () => changeLetter(await lastEntry('items'))],
  ['a deleted log entry', async () => rm((await listLog(world.lakePath, 'history'))[1] ?? '')],
  ['a deleted newest log entry', async () => rm(await lastEntry('products'))],
  ['garbage in format.json', () => writeFile(inLake('_pricelake', 'format.json'), '{"x')],
];

test.each([
  ...DAMAGES,
  ['garbage in lake.json', () => writeFile(inLake('lake.json'), 'garbage')],
  ['a deleted format.json', () => rm(inLake('_pricelake', 'format.json'))],
] as const)('sync reports the damage and the advice before any request: %s', async (_name, damage) => {
  await damage();
  expect(await failure(world.sync())).toMatchObject({
    code: 'lake_invalid',
    facts: { hint: expect.stringContaining('pricelake lake rebuild') },
  });
  expect(world.requests).toEqual([]);
});

test('a rebuild repairs each of these damages from the landed bytes alone, and the next run continues', async () => {
  for (const [, damage] of DAMAGES) await damage();
  const context = openContext();
  await runRebuild({ lake: world.lakePath }, context);
  for (const damaged of ['items', 'sites', 'price_spread', 'history', 'products', 'format.json']) {
    expect(context.output.text).toMatch(new RegExp(`^damaged: .*${damaged}`, 'm'));
  }
  expect(world.requests).toEqual([]);
  expect(await listDifferent()).toEqual([]);
  await verify();
  expect((await world.sync()).row.mode).toBe('feed');
  expect((await readdir(inLake('_pricelake'))).filter((name) => /rebuild|replaced|swap/.test(name))).toEqual([]);
});

/** Damages that runs don't notice, because they read the rest of the log. */
const HIDDEN: [string, string, (file: string) => Promise<void>][] = [
  ['a deleted checkpoint that `_last_checkpoint` names', '00000000000000000010.checkpoint.parquet', rm],
  ['zeros in `_last_checkpoint`', '_last_checkpoint', (file) => writeFile(file, Buffer.alloc(99))],
  ['a truncated entry before a checkpoint', '00000000000000000003.json', (file) => truncate(file, 99)],
];

test.each(HIDDEN)('a rebuild repairs a log in which only verify finds a fault: %s', async (_what, name, damage) => {
  await passCheckpoint(world);
  await damage(inLake('datasets', '_delta_log', name));
  await world.sync();
  expect(await findFaults(world.lakePath)).toMatchObject({ logs: expect.stringContaining(name) });
  await rebuild();
  await verify();
});

test('a rebuild of a damaged ledger without lake.json reports what is lost', async () => {
  await truncate(await lastEntry('items'), 200);
  await truncate(await lastEntry('runs'), 200);
  await rm(inLake('_pricelake', 'format.json'));
  await writeFile(inLake('lake.json'), 'garbage');
  const { lost } = await rebuild();
  expect(lost).toEqual([expect.stringMatching(/^runs: the cost of runs/)]);
  expect(await listDifferent(['history', 'items', 'sites', 'products', 'price_spread_daily', 'check_results'])).toEqual(
    [],
  );
});

test('a rebuild that is killed during the swap is continued by the next command', async () => {
  await truncate(await lastEntry('items'), 200);
  // The swap fails after its commit point.
  const blocked = inLake('_pricelake', 'replaced');
  await writeFile(blocked, 'in the way');
  await expect(rebuild()).rejects.toThrow();
  expect(await readdir(inLake('_pricelake'))).toContain('swap.json');
  await rm(blocked);
  // Half of the tables had been moved.
  for (const table of ['history', 'items'] as const) {
    await rm(inLake(table), { recursive: true });
    await cp(inLake('_pricelake', 'rebuild', table), inLake(table), { recursive: true });
    await rm(inLake('_pricelake', 'rebuild', table), { recursive: true });
  }
  await rm(inLake('sites'), { recursive: true });
  expect((await world.sync()).row.mode).toBe('feed');
  expect(await listDifferent(['history', 'items', 'sites', 'products', 'runs'])).toEqual([]);
  expect(await readdir(inLake('_pricelake'))).not.toContain('swap.json');
});

describe('if older landed bytes are gone, a rebuild of a damaged lake', () => {
  test('copies the older rows from the files that lake.json lists', async () => {
    await removeLandings(2);
    await truncate(await lastEntry('history'), 200);
    const { carried, lost } = await rebuild();
    expect(carried).toEqual([expect.stringMatching(/^history: read from the files listed in lake\.json/)]);
    expect(lost).toEqual([]);
    expect(await listDifferent(['history', 'sites', 'rejects', 'price_spread_daily'])).toEqual([]);
    await expectEquations();
  });

  test('refuses to lose rows, names them, and continues with --accept-loss', async () => {
    await removeLandings(2);
    await truncate(await lastEntry('history'), 200);
    await writeFile(inLake('lake.json'), 'garbage');
    const error = await failure(rebuild());
    expect(error.message).toMatch(
      /^history can't be read, .* history: rows from runs before 000003-\S+ are lost \(.*history\/_delta_log\/\d+\.json/,
    );
    expect(error.facts.hint).toContain('--accept-loss');
    expect(await readFile(inLake('lake.json'), 'utf8')).toBe('garbage');
    const { lost } = await rebuild({ acceptLoss: true });
    expect(lost).toEqual([expect.stringMatching(/^history: rows from runs before/)]);
    await expectSound();
  });
});

test('a rebuild undoes a DELETE of history by another program, even if older landed bytes are gone', async () => {
  await optimize(world.lakePath, 'items');
  await removeLandings(2);
  await deleteRows(world.lakePath, 'history', 'item_id % 2 = 0');
  expect((await failure(world.sync())).message).toContain('(DELETE by delta-rs');
  const { damage } = await rebuild();
  expect(damage.join()).toMatch(/history: version \d+ \(DELETE by delta-rs:py-1\.6\.6\) changed rows/);
  expect(await listDifferent(['history', 'sites', 'rejects'])).toEqual([]);
  await expectSound();
});

describe('a change of history by another program, without the landed bytes for a rebuild,', () => {
  beforeEach(() => removeLandings(99));

  test('is undone from the files that the newest run left, and the next sync continues', async () => {
    await deleteRows(world.lakePath, 'history', 'item_id % 2 = 0');
    expect((await failure(world.sync())).facts.hint).toContain('pricelake lake rebuild');
    const { runs, tables, lost } = await rebuild();
    expect({ runs, lost }).toEqual({ runs: [], lost: [] });
    expect(tables).toMatchObject([{ table: 'history' }]);
    expect(await listDifferent(['history', 'items'])).toEqual([]);
    expect((await world.sync()).row.mode).toBe('feed');
    await verify();
  });

  test('is undone if it removed one of several files, and the other files stay unchanged', async () => {
    const { files } = await readTable(await openLake(world.lakePath, { create: false }), 'history');
    expect(files.length).toBeGreaterThan(1);
    const remove = { path: encodeLogPath(files[0]?.path ?? ''), dataChange: true, deletionTimestamp: Date.now() };
    await commitForeign(world.lakePath, 'history', 'DELETE', [{ remove }]);
    expect(await listDifferent(['history', 'items'])).toEqual(['history']);
    await rebuild();
    expect(await listDifferent(['history', 'items'])).toEqual([]);
  });

  test('is kept with --accept-loss if these files are gone too', async () => {
    await deleteRows(world.lakePath, 'history', 'item_id % 2 = 0');
    await vacuum(world.lakePath, 'history');
    const error = await failure(rebuild());
    expect(error).toMatchObject({ code: 'landing_gone', facts: { hint: expect.stringContaining('--accept-loss') } });
    expect(error.message).toMatch(/can restore history \(.* is missing\)/);
    const { lost } = await rebuild({ acceptLoss: true });
    expect(lost).toEqual([expect.stringMatching(/^history: rows that the other program removed/)]);
    expect((await world.sync()).row.mode).toBe('feed');
  });
});

test.each([
  ['a log entry of a derived table', async () => truncate(await lastEntry('offers'), 200)],
  ['the data files of items', damageItems],
])('if the landed bytes are gone, the advice for damage to %s leads to a new copy', async (_what, damage) => {
  await removeLandings(99);
  await world.sandbox.advance({ hours: 1, changes: 6 });
  await damage();
  expect((await failure(world.sync())).facts.hint).toContain('`pricelake lake rebuild`');
  const error = await failure(rebuild());
  expect(error.code).toBe('landing_gone');
  expect(error.facts.hint).toMatch(/sync --reconcile.*If damage prevents this too, .*move its folder away/);
  world.pipeline.source.mode = 'snapshot';
  expect((await failure(world.sync())).code).toBe('lake_invalid');
  await rm(world.lakePath, { recursive: true });
  await world.sync();
  await verify();
  expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
});

async function damageItems(): Promise<void> {
  const { files } = await readTable(await openLake(world.lakePath, { create: false }), 'items');
  for (const { path: name, bytes } of files) await truncate(inLake('items', name), bytes - 100);
}

test('a rebuild keeps the numbers of runs that have nothing to do, so that no number is used twice', async () => {
  await deleteRows(world.lakePath, 'items', 'item_id % 2 = 0');
  world.pipeline.source.mode = 'snapshot';
  expect((await world.sync()).row.run_number).toBe(4n);
  world.pipeline.source.mode = 'auto';
  await deleteRows(world.lakePath, 'history', 'item_id % 2 = 0');
  await rebuild();
  await verify();
  expect((await world.sync()).row.run_number).toBe(5n);
});

test('a run that was interrupted while it published continues after the rebuild of a damaged lake', async () => {
  await world.sandbox.advance({ hours: 1, changes: 6 });
  const log: Io['log'] = (_level, name, facts) => {
    if (name === 'committed' && facts?.table === 'items') throw new Error('the process dies');
  };
  await expect(syncWithWings(world.pipeline, { ...testIo, log })).rejects.toThrow('the process dies');
  expect((await failure(rebuild())).facts.hint).toContain('pricelake sync');
  await truncate(await lastEntry('sites'), 100);
  await rebuild();
  expect(await world.sync()).toMatchObject({ resumed: true, row: { run_number: 4n } });
  expect(await readItems(world.lakePath)).toEqual(await readTruth(world.sandbox));
  await verify();
});

test('a rebuild skips a run with altered landed bytes, and names the file', async () => {
  const [first = ''] = (await readdir(inLake('_pricelake', 'landing'))).sort();
  const folder = inLake('_pricelake', 'landing', first);
  const name = (await readdir(folder)).find((file) => file.startsWith('export-')) ?? '';
  const bytes = await readFile(path.join(folder, name));
  bytes[100] = (bytes[100] ?? 0) ^ 1;
  await writeFile(path.join(folder, name), bytes);
  const { runs, damage } = await rebuild();
  expect(runs).toHaveLength(1);
  expect(damage).toEqual([
    expect.stringMatching(/export-\S+ bytes 0 to \d+ have changed since they landed: their checksum differs$/),
  ]);
  const names = (await readdir(inLake('_pricelake', 'landing'))).sort();
  await appendFile(inLake('_pricelake', 'landing', names.at(-1) ?? '', 'journal.ndjson'), 'x\n');
  const error = await failure(rebuild());
  expect(error).toMatchObject({
    code: 'landing_gone',
    message: expect.stringMatching(/journal\.ndjson line \d+ is not JSON/),
  });
});

/** Alterations of the metaData, the protocol, the files and the transactions of a log. */
const ALTERED: [string, RegExp, string][] = [
  ["a schema that isn't JSON", /"schemaString":"\{/, '"schemaString":"['],
  ['a schema without fields', /\\"fields\\":/, '\\"felds\\":'],
  ["fields that aren't a list", /\\"fields\\":\[.*?\]/, '\\"fields\\":7'],
  ['a field that is null', /\\"fields\\":\[/, '\\"fields\\":[null,'],
  ['a field without a name', /\\"fields\\":\[\{\\"name\\"/, '\\"fields\\":[{\\"nase\\"'],
  ['a schema that is a number', /"schemaString":"(?:[^"\\]|\\.)*"/, '"schemaString":7'],
  ['no schema', /"schemaString"/, '"schemeString"'],
  ['partition columns that are null', /"partitionColumns":\[[^\]]*\]/, '"partitionColumns":null'],
  ['a configuration that is null', /"configuration":\{[^}]*\}/, '"configuration":null'],
  ['a protocol with texts', /"minReaderVersion":1/, '"minReaderVersion":"1"'],
  ['metaData that is a text', /\{"metaData":\{.*\}\}/, '{"metaData":"x"}'],
  ['a transaction without its application', /"appId":"[^"]*"/, '"appid":"x"'],
  ["statistics that aren't JSON", /"stats":"\{/, '"stats":"['],
  ['partition values that are null', /"partitionValues":\{[^}]*\}/, '"partitionValues":null'],
];

test.each(ALTERED)(
  'a run reports a log with %s with its line, and rebuild replaces it',
  async (_what, text, altered) => {
    const [entry = ''] = await listLog(world.lakePath, 'items');
    const whole = await readFile(entry, 'utf8');
    const lines = whole.split('\n');
    const line = lines.findIndex((one) => text.test(one));
    await writeFile(entry, whole.replace(text, altered));
    expect(await failure(world.sync())).toMatchObject({
      code: 'lake_invalid',
      message: expect.stringContaining(`${entry}: line ${line + 1} is damaged`),
      facts: { hint: expect.stringContaining('`pricelake lake rebuild`') },
    });
    expect(await failure(verify())).toMatchObject({ code: 'verify_failed' });
    await rebuild();
    await verify();
    expect(await listDifferent()).toEqual([]);
  },
);
