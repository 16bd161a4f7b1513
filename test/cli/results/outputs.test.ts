import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { SPECS } from '../../../src/cli/commands.js';
import { RESULTS, SERVERS } from '../../../src/cli/results/results.js';
import { startSandbox } from '../../../src/sandbox/start.js';
import { serve } from '../../explore/explored.js';
import { startS3, withCredentials } from '../../remote/s3-server.js';
import { runHere, runPricelake } from '../pricelake.js';
import { findFault } from './find-fault.js';

const sandbox = await startSandbox({ items: 150, sites: 3, ratePerSecond: null });
const folder = await mkdtemp(join(tmpdir(), 'pricelake-outputs-'));
const lake = join(folder, 'lake');
const env = { PRICELAKE_BASE_URL: sandbox.baseUrl, PRICELAKE_API_KEY: sandbox.keys.live };
await writeFile(join(folder, 'mine.csv'), 'product,price,currency,lowest\nnone,3,EUR,\n');
afterAll(async () => {
  await sandbox.close();
  await rm(folder, { recursive: true });
});

async function run(args: string[]): Promise<{ line: string; code: number | null }> {
  const { stdout, code } = await runHere([...args, '--json'], { env, cwd: folder });
  return { line: stdout.trimEnd().split('\n').at(-1) ?? '', code };
}

const seen = new Set<string>();
async function expectFits(name: string, args: string[], { fails = false } = {}): Promise<void> {
  const { line, code } = await run(args);
  seen.add(fails ? 'error' : name);
  expect([args.join(' '), await findFault(fails ? 'error' : name, line), fails || code === 0]).toEqual([
    args.join(' '),
    undefined,
    true,
  ]);
}

const ITEM = 'SELECT item_id::VARCHAR AS item_id FROM items WHERE product_id IS NOT NULL ORDER BY 1 LIMIT 1';

/** Runs 50 commands in an order in which each finds its input, so it needs more time than other tests. */
test('every command that ends prints output that fits its schema, on stdout and in a file', {
  timeout: 600_000,
}, async () => {
  await expectFits('init', ['init', 'prices.yaml']);
  await expectFits('doctor', ['doctor']);
  await expectFits('plan', ['plan']);
  await expectFits('sync', ['sync']);
  await expectFits('sandbox-advance', ['sandbox', 'advance', '--url', sandbox.baseUrl, '--hours', '5']);
  await expectFits('sync', ['sync', '--land-only']);
  await expectFits('plan', ['plan']);
  await expectFits('status', ['status', 'prices.yaml']);
  await expectFits('doctor', ['doctor']);
  await expectFits('sync', ['sync']);
  await expectFits('sync', ['sync']);
  await expectFits('status', ['status']);
  await expectFits('check', ['check']);
  await expectFits('spread', ['spread', '--grade', 'C']);
  await expectFits('spread', ['spread', '--format', 'csv', '--output', 's.csv']);
  await expectFits('query', ['matches']);
  await expectFits('watch', ['watch', '--list', 'mine.csv']);
  await expectFits('watch', ['watch', '--list', 'mine.csv', '--format', 'csv', '--output', 'w.csv']);
  await expectFits('query', ['query', 'FROM sites']);
  await expectFits('query', ['query', '--analysis']);
  await expectFits('query', ['query', 'FROM sites', '--format', 'parquet', '--output', 'q.parquet']);
  const rows = JSON.parse((await run(['query', ITEM])).line) as { rows: { item_id: string }[] };
  const item = String(rows.rows[0]?.item_id);
  await expectFits('why', ['why', 'items', item]);
  await expectFits('why', ['why', 'items', item, 'price']);
  await expectFits('deliver-changes', ['deliver', 'changes', 'items', '--since', '1']);
  await expectFits('deliver-changes', ['changes', 'items', '--since', '1', '--format', 'csv', '--output', 'c.csv']);
  await expectFits('schema', ['schema', 'items']);
  await expectFits('schema', ['schema', '--output', 't.md']);
  await expectFits('explore', ['report']);
  await expectFits('explore', ['explore', '--output', 'pages.html']);
  await expectFits('verify', ['verify', '--sample', '1']);
  await expectFits('lake-compact', ['compact']);
  await expectFits('deliver-manifest', ['deliver', 'manifest', 'items']);
  await expectFits('deliver-manifest', ['manifest', 'items', '--since', '1', '--format', 'list', '--output', 'm.txt']);
  await expectFits('deliver-load', ['deliver', 'load', 'postgres', '--full', '--base', 's3://x/y']);
  await expectFits('deliver-load', ['load', 'snowflake', '--since', '1', '--base', '@x', '--output', 'l.sql']);
  await expectFits('sync', ['sync', '--backfill', item]);
  await expectFits('sync', ['backfill', 'history', '--where', `item_id = ${item}`]);
  await expectFits('lake-rebuild', ['rebuild']);
  await expectFits('completion', ['completion', 'bash']);
  await expectFits('help', ['help', 'faq']);
  await expectFits('demo', ['demo', '--items', '300', '--keep', 'kept']);
});

test('restore prints output that fits its schema, for an empty folder and a complete one', async () => {
  const s3 = await startS3();
  const putBack = withCredentials();
  const remote = `s3://bucket/prices?endpoint=${s3.endpoint}`;
  const write = (file: string, path: string) =>
    writeFile(
      join(folder, file),
      `source: {baseUrl: '${sandbox.baseUrl}', apiKey: '\${PRICELAKE_API_KEY}'}\nlake: {path: ${path}, remote: '${remote}'}\n`,
    );
  await write('one.yaml', './one');
  await write('two.yaml', './two');
  await expectFits('sync', ['sync', 'one.yaml']);
  await expectFits('lake-restore', ['restore', 'two.yaml']);
  await expectFits('lake-restore', ['lake', 'restore', 'two.yaml']);
  putBack();
  await s3.close();
});

test.each([
  ['usage', ['query']],
  ['query', ['query', 'selec']],
  ['config', ['plan', 'none.yaml']],
  ['check_failed', ['check', '--fail-on', 'warn']],
])('the error %s fits the schema of errors', async (code, args) => {
  await expectFits('error', args, { fails: true });
  expect(JSON.parse((await run(args)).line)).toMatchObject({ error: { code } });
});

describe("the schema of a server's first line fits", () => {
  test('explore prints its address', async () => {
    const { url, close } = await serve({ lake });
    expect(await findFault('explore', JSON.stringify({ url }))).toBeUndefined();
    await close();
  });

  test('webhook prints its address, and an error when it is stopped', async () => {
    await writeFile(join(folder, 'secret'), 'whsec_1\n');
    const file = join(folder, 'hook.yaml');
    const secret = join(folder, 'secret');
    await writeFile(
      file,
      `source: {baseUrl: 'http://127.0.0.1:1', apiKey: '\${NO}'}\nlake: {path: ${lake}}\nwebhook: {secret: {file: ${secret}}}\n`,
    );
    const { stdout } = await runPricelake(['webhook', file, '--port', '0', '--json'], {
      act: (child) => child.stdout?.once('data', () => child.kill('SIGTERM')),
    });
    const [line = '', stopped = ''] = stdout.split('\n');
    expect(await findFault('webhook', line)).toBeUndefined();
    expect(await findFault('error', stopped)).toBeUndefined();
  });

  test('sandbox prints its address and keys', async () => {
    const { stdout } = await runPricelake(['sandbox', '--items', '10', '--json'], {
      act: (child) => child.stdout?.once('data', () => child.kill('SIGTERM')),
    });
    expect(await findFault('sandbox', stdout)).toBeUndefined();
  });
});

test('a missing and an additional member are detected', async () => {
  expect(await findFault('init', '{"ok":true,"file":"x"}')).toMatch(/lake/u);
  expect(await findFault('init', '{"ok":true,"file":"x","lake":"y","more":1}')).toMatch(/additional/u);
});

test('every command has a schema and was tested above', () => {
  const names = SPECS.map(({ name }) => name);
  // mcp speaks its own protocol, and groups only have subcommands.
  const others = ['mcp', 'lake', 'deliver'];
  expect(Object.keys(RESULTS).sort()).toEqual(names.filter((name) => !others.includes(name)).sort());
  const ended = Object.keys(RESULTS).filter((name) => !SERVERS.includes(name));
  expect(ended.filter((name) => !seen.has(name.replace(' ', '-')))).toEqual([]);
});
