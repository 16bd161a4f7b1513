import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { runCheckCommand } from '../../src/cli/actions/run-check.js';
import { runCompact } from '../../src/cli/actions/run-compact.js';
import { runQuery } from '../../src/cli/actions/run-query.js';
import { runRestore } from '../../src/cli/actions/run-restore.js';
import { runVerify } from '../../src/cli/actions/run-verify.js';
import { backfillHistory } from '../../src/cli/backfill-history.js';
import type { Pipeline } from '../../src/config/pipeline-file.js';
import { openLake } from '../../src/lake/lake.js';
import { readTable } from '../../src/lake/read.js';
import { TABLE_NAMES, type TableName } from '../../src/tables/table.js';
import { rebuildWithWings, syncWithWings } from '../../src/wings/index.js';
import { openContext } from '../cli/open-context.js';
import { makePipeline, testIo } from '../run/world.js';
import { isDataFile, openS3World, readCurrentItems, type S3World } from './s3-world.js';

const CHILD = fileURLToPath(new URL('./killed-run.ts', import.meta.url));

let remote: S3World;
let { s3, world, machine, address } = {} as S3World;

beforeAll(async () => {
  remote = await openS3World({ pastDays: 5, checks: 'all' });
  ({ s3, world, machine, address } = remote);
  await syncWithWings(machine('first'), testIo);
});

afterAll(() => remote.close());

beforeEach(() => {
  s3.asked.length = 0;
  s3.fault = () => undefined;
});

const emptyDisk = async () => path.basename(await mkdtemp(path.join(world.folder, 'empty-')));

/** The tables whose data files were fetched, each file at most once. */
function listFetched(): TableName[] {
  const keys = s3.asked.flatMap(({ method, key }) => {
    return method === 'GET' && isDataFile(key) ? [key] : [];
  });
  expect(new Set(keys).size).toBe(keys.length);
  return TABLE_NAMES.filter((table) => keys.some((key) => key.split('/')[1] === table));
}

async function restore({ lake }: Pipeline): Promise<void> {
  const file = path.join(world.folder, `${path.basename(lake.path)}.yaml`);
  await remote.writePipeline(lake.path, file);
  await runRestore({ pipeline: file }, openContext(true));
}

test('if nothing is new, an empty disk gets logs, the newest changes, and the two tables that show it', async () => {
  const pipeline = machine(await emptyDisk());
  const { published } = await syncWithWings(pipeline, testIo);
  expect(published).toBe(false);
  expect(listFetched()).toEqual(['history', 'datasets', 'runs']);
});

test("if nothing is new and the feed isn't read again, two tables are enough", async () => {
  const pipeline = machine(await emptyDisk());
  const { published } = await syncWithWings({ ...pipeline, source: { ...pipeline.source, feedOverlap: 0 } }, testIo);
  expect(published).toBe(false);
  expect(listFetched()).toEqual(['datasets', 'runs']);
});

test('with changes, an empty disk gets the tables that the run reads, and ends with the same lake', async () => {
  await world.sandbox.advance({ hours: 2, changes: 20 });
  const empty = machine(await emptyDisk());
  const { published } = await syncWithWings(empty, testIo);
  expect(published).toBe(true);
  const fetched = listFetched();
  expect(fetched).toEqual(expect.arrayContaining(['items', 'history', 'products', 'price_spread']));
  for (const table of ['check_results', 'rejects', 'service_products'] as const) expect(fetched).not.toContain(table);
  const direct = makePipeline(world.sandbox, path.join(world.folder, 'direct'), { checks: 'all' });
  await syncWithWings(direct, testIo);
  expect(await readCurrentItems(empty.lake.path)).toEqual(await readCurrentItems(direct.lake.path));
  await restore(empty);
  const proofs = await runVerify({ lake: empty.lake.path }, openContext(true));
  expect(proofs).toMatchObject({ lake: empty.lake.path });
});

test('closed days are not fetched to add another day', async () => {
  await world.sandbox.advance({ hours: 48, changes: 20 });
  const empty = machine(await emptyDisk());
  await syncWithWings(empty, testIo);
  const { files } = await readTable(await openLake(empty.lake.path, { create: false }), 'price_spread_daily');
  expect(files).toHaveLength(2);
  expect(listFetched()).toContain('items');
  expect(listFetched()).not.toContain('price_spread_daily');
});

// I11 of SPEC.md
test('a command that needs missing files says where they are, and the folder is neither damaged nor emptied', async () => {
  const pipeline = machine(await emptyDisk());
  await syncWithWings(pipeline, testIo);
  const { path: lake } = pipeline.lake;
  const before = [...s3.objects.keys()].filter((key) => key.endsWith('.parquet'));
  const other = address.replace('prices', 'other');
  const commands: [string, () => Promise<unknown>][] = [
    ['query', () => runQuery({ lake, sql: 'FROM items', memory: '1GB' }, openContext(true))],
    ['check', () => runCheckCommand({ lake, failOn: 'error' }, openContext(true))],
    ['verify', () => runVerify({ lake }, openContext(true))],
    ['compact', () => runCompact({ lake }, openContext(true))],
    ['rebuild', () => rebuildWithWings(pipeline, testIo, new AbortController().signal)],
    ['sync without the remote', () => syncWithWings(makePipeline(world.sandbox, lake), testIo)],
    [
      'sync with another remote',
      () => syncWithWings({ ...pipeline, lake: { ...pipeline.lake, remote: other } }, testIo),
    ],
  ];
  for (const [name, run] of commands) {
    const error = await run().catch((fault: unknown) => fault);
    expect(error, name).toMatchObject({
      code: 'lake_invalid',
      message: expect.stringContaining(address.split('?')[0] as string),
    });
    expect(error, name).toMatchObject({ facts: { hint: expect.stringContaining('pricelake lake restore') } });
  }
  expect([...s3.objects.keys()].filter((key) => key.endsWith('.parquet'))).toEqual(expect.arrayContaining(before));
  await syncWithWings(pipeline, testIo);
  expect([...s3.objects.keys()].filter((key) => key.endsWith('.parquet'))).toEqual(expect.arrayContaining(before));
  await restore(pipeline);
  const context = openContext(true);
  await runQuery({ lake, sql: 'SELECT count(*) AS n FROM items', memory: '1GB' }, context);
  expect(JSON.parse(context.output.text)).toMatchObject({ ok: true });
  await runVerify({ lake }, openContext(true));
});

test('a complete folder stays complete after another machine has published', async () => {
  await syncWithWings(machine('first'), testIo);
  await world.sandbox.advance({ hours: 2, changes: 20 });
  await syncWithWings(machine(await emptyDisk()), testIo);
  await syncWithWings(machine('first'), testIo);
  await runVerify({ lake: machine('first').lake.path }, openContext(true));
});

test('a backfill on an empty disk fetches the items from which it selects', async () => {
  const pipeline = machine(await emptyDisk());
  const { signal } = new AbortController();
  const { items } = await backfillHistory(pipeline, { where: 'item_id % 20 = 0' }, testIo, signal);
  expect(items).toBeGreaterThan(0);
});

/** Starts a run in a separate process, and kills it when it requests a key. */
async function killAt(pipeline: unknown, isLast: (method: string, key: string) => boolean): Promise<void> {
  const child: ChildProcess = spawn(process.execPath, ['--import', 'tsx', CHILD, JSON.stringify(pipeline)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  s3.fault = ({ method, key }) => {
    if (!isLast(method, key)) return undefined;
    child.kill('SIGKILL');
    return 'hang';
  };
  const [, signal] = await once(child, 'exit');
  expect(signal).toBe('SIGKILL');
  s3.fault = () => undefined;
}

test('a run killed while it fetches continues on this machine and on another one', async () => {
  await world.sandbox.advance({ hours: 2, changes: 20 });
  const pipeline = machine(await emptyDisk());
  const json = { ...pipeline, source: pipeline.source };
  // First in the first log, which makes the folder a copy of the remote, then in the files that the run needs.
  await killAt(json, (method, key) => method === 'GET' && key.includes('items/_delta_log'));
  await killAt(json, (method, key) => method === 'GET' && key.startsWith('prices/products/') && isDataFile(key));
  const fetched = () => s3.asked.filter(({ key }) => key.startsWith('prices/history/') && isDataFile(key));
  const before = fetched().length;
  expect(before).toBeGreaterThan(0);
  const report = await syncWithWings(pipeline, testIo);
  expect(report).toMatchObject({ published: true, resumed: true });
  expect(fetched().filter(({ method }) => method === 'GET')).toHaveLength(before);
  await world.sandbox.advance({ hours: 2, changes: 20 });
  await syncWithWings(machine('first'), testIo);
  await runVerify({ lake: machine('first').lake.path }, openContext(true));
});
