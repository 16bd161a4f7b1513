/**
 * npm run bench:peers [-- --items 200000 --only pricelake,dlt]
 * Copies the same items from the same sandbox to Parquet with pricelake and with other tools, each configured as its
 * documentation recommends. Prints a Markdown table with the cost of each copy, the export rows that are billed if it is
 * killed halfway and restarted, and whether ids beyond 2^53 and prices of 18 digits are copied exactly.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, copyFile, mkdir, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import * as plain from '../floor/plain.js';
import { type BenchSandbox, CLI, download, startSandbox } from '../processes.js';

const { values } = parseArgs({ options: { items: { type: 'string', default: '200000' }, only: { type: 'string' } } });

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const WORK = here('../.work/peers');
const inWork = (...names: string[]) => path.join(WORK, ...names);
const python = inWork('venv', 'bin', 'python');

interface Peer {
  name: string;
  /** Writes under `target`. */
  command(target: string): string[];
  /** Glob of the Parquet files that contain the items, relative to `target`. */
  files: string;
  id: string;
}

const PEERS: Peer[] = [
  {
    name: 'pricelake',
    command: (target) => [process.execPath, CLI, 'sync', path.join(target, 'peer.yaml'), '--json'],
    files: 'lake/items/**/*.parquet',
    id: 'item_id',
  },
  {
    name: 'plain floor',
    command: (target) => [
      'sh',
      '-c',
      `rm -rf ${target}/items && curl -sSf -o ${target}/export -H "Authorization: Bearer $PRICELAKE_API_KEY" \
      "$PRICELAKE_BASE_URL/api/v1/export?format=ndjson" && ${process.execPath} ${here('../run-sql.mjs')} ${target}/floor.sql`,
    ],
    files: 'items/**/*.parquet',
    id: 'item_id',
  },
  {
    name: 'Node and parquetjs-lite',
    command: (target) => [process.execPath, here('./parquetjs.mjs'), target],
    files: 'items.parquet',
    id: 'id',
  },
  {
    name: 'dlt 1.31, dictionaries',
    command: (target) => [python, here('./dlt_dictionaries.py'), target],
    files: 'prices/items/*.parquet',
    id: 'id',
  },
  {
    name: 'dlt 1.31, Arrow',
    command: (target) => [python, here('./dlt_arrow.py'), target],
    files: 'prices/items/*.parquet',
    id: 'id',
  },
  {
    name: 'Meltano SDK 0.54 tap and Parquet target',
    command: (target) => [
      'sh',
      '-ec',
      `echo '{"filepath": "${target}/items.parquet"}' > ${target}/target.json
      ${python} ${here('./tap_items.py')} --config ${target}/empty.json | ${inWork('venv/bin/target-parquet')} --config ${target}/target.json`,
    ],
    files: 'items.parquet',
    id: 'id',
  },
];

/** Numbers that a double can't represent exactly. */
const HARD = { id: '1152921504606846977', price: '12345678901234.5678' };

/** Writes the sandbox's items as NDJSON, plus one item with numbers that a double can't represent exactly. */
async function writeWorld(items: number): Promise<string> {
  const file = inWork('world.ndjson');
  const sandbox = await startSandbox(items, ['--plan', 'unlimited']);
  await download(`${sandbox.baseUrl}/api/v1/export?format=ndjson`, sandbox.key, file);
  await sandbox.stop();
  const [line = ''] = (await readHead(file)).split('\n');
  const hard = line.replace(/"id": ?\d+/u, `"id":${HARD.id}`).replace(/"price": ?[^,]+/u, `"price":${HARD.price}`);
  await appendFile(file, `${hard}\n`);
  return file;
}

async function readHead(file: string): Promise<string> {
  const source = await open(file);
  const { buffer, bytesRead } = await source.read(Buffer.alloc(10_000)).finally(() => source.close());
  return buffer.toString('utf8', 0, bytesRead);
}

async function prepare(target: string): Promise<void> {
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  await writeFile(path.join(target, 'empty.json'), '{}');
  await writeFile(path.join(target, 'floor.sql'), plain.firstCopySql(`${target}/export`, `${target}/items`));
  await copyFile(here('./peer.yaml'), path.join(target, 'peer.yaml'));
}

interface Run {
  seconds: number;
  cpuSeconds: number;
  peakBytes: number;
}

function start(peer: Peer, target: string, sandbox: BenchSandbox): ChildProcess {
  const measured = [here('./measure.py'), path.join(target, 'cost.json'), ...peer.command(target)];
  return spawn('python3', measured, {
    env: {
      ...process.env,
      PRICELAKE_BASE_URL: sandbox.baseUrl,
      PRICELAKE_API_KEY: sandbox.key,
      PEER_TARGET: target,
      PYTHONPATH: here('.'),
    },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true, // a group of its own, to be killed as a whole
  });
}

async function run(peer: Peer, target: string, sandbox: BenchSandbox): Promise<Run> {
  const child = start(peer, target, sandbox);
  let log = '';
  child.stderr?.on('data', (chunk) => {
    log = `${log}${chunk}`.slice(-20_000);
  });
  await once(child, 'close');
  if (child.exitCode !== 0) throw new Error(lastWords(log));
  return JSON.parse(await readFile(path.join(target, 'cost.json'), 'utf8')) as Run;
}

/** Returns the last line of a log that contains an error, or else its last line. */
function lastWords(log: string): string {
  const lines = log.split('\n').filter((line) => line.trim() !== '' && !/^(?:\s+at |Node\.js v)/u.test(line));
  return lines.findLast((line) => /error/iu.test(line)) ?? lines.at(-1) ?? 'no output';
}

/** Counts the export rows that are billed for a copy that is killed halfway and restarted. */
async function countRowsOfRestart(peer: Peer, seconds: number, world: string): Promise<number> {
  const target = inWork('killed');
  await prepare(target);
  const sandbox = await serve(world);
  try {
    const child = start(peer, target, sandbox);
    child.stderr?.resume();
    await sleep(seconds * 500);
    const closed = once(child, 'close');
    process.kill(-(child.pid as number), 'SIGKILL');
    await closed;
    await run(peer, target, sandbox);
    return await readUsage(sandbox);
  } finally {
    await sandbox.stop();
  }
}

async function readUsage({ baseUrl, key }: BenchSandbox): Promise<number> {
  const answer = await fetch(`${baseUrl}/api/v1/plan`, { headers: { authorization: `Bearer ${key}` } });
  return ((await answer.json()) as { usage: { exportRows: number } }).usage.exportRows;
}

const serve = (world: string) => startSandbox(undefined, ['--data', world, '--plan', 'unlimited']);

/** Counts the copied rows, and checks whether the HARD numbers were copied exactly. */
async function look(peer: Peer, target: string) {
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  const from = `read_parquet('${target}/${peer.files}', union_by_name = true, hive_partitioning = false)`;
  const read = async (sql: string) => (await connection.runAndReadAll(sql)).getRowsJson();
  const [[rows] = []] = await read(`SELECT count(*) FROM ${from}`);
  const largest = async (column: string) =>
    (await read(`SELECT CAST(max_by(${column}, CAST(${peer.id} AS DOUBLE)) AS VARCHAR) FROM ${from}`)).flat()[0];
  const [id, price] = [await largest(peer.id), await largest('price')];
  connection.closeSync();
  instance.closeSync();
  return { rows: String(rows), ids: id === HARD.id, prices: price === HARD.price };
}

async function sumBytes(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true });
  const parquet = names.filter((name) => name.endsWith('.parquet'));
  const sizes = await Promise.all(parquet.map(async (name) => (await stat(path.join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

await mkdir(WORK, { recursive: true });
const setUp = spawn('sh', [here('./setup.sh'), WORK], { stdio: ['ignore', 'inherit', 'inherit'] });
const [code] = (await once(setUp, 'exit')) as [number];
if (code !== 0) throw new Error('the peers could not be set up');
const world = await writeWorld(Number(values.items));
const { size } = await stat(world);
console.log(`${values.items} items, ${(size / 1e6).toFixed(0)} MB of NDJSON, load ${loadavg()[0]?.toFixed(1)}\n`);
console.log('| | s | CPU s | MB a CPU s | peak memory | written | billed after a kill | ids | prices |');
console.log('| --- | --- | --- | --- | --- | --- | --- | --- | --- |');
const chosen = values.only?.split(',');
for (const peer of PEERS.filter(({ name }) => chosen === undefined || chosen.some((word) => name.startsWith(word)))) {
  const target = inWork('target');
  try {
    await prepare(target);
    const sandbox = await serve(world);
    const cost = await run(peer, target, sandbox).finally(() => sandbox.stop());
    const found = await look(peer, target);
    const billed = await countRowsOfRestart(peer, cost.seconds, world);
    const cells = [
      cost.seconds.toFixed(1),
      cost.cpuSeconds.toFixed(1),
      (size / 1e6 / cost.cpuSeconds).toFixed(1),
      `${(cost.peakBytes / 1e6).toFixed(0)} MB`,
      `${found.rows} rows, ${((await sumBytes(target)) / 1e6).toFixed(0)} MB`,
      String(billed),
      found.ids ? 'exact' : '**wrong**',
      found.prices ? 'exact' : '**wrong**',
    ];
    console.log(`| ${peer.name} | ${cells.join(' | ')} |`);
  } catch (error) {
    console.log(`| ${peer.name} | failed: ${error instanceof Error ? error.message.slice(0, 160) : error} |`);
  }
}
