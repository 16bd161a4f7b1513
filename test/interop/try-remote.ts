import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { stringify } from 'yaml';
import { type Io, realIo } from '../../src/io/io.js';
import { openLake } from '../../src/lake/lake.js';
import { openSession } from '../../src/lake/session.js';
import { createTableViews } from '../../src/lake/views.js';
import { openStore, withRemote } from '../../src/remote/remote.js';
import { syncPipeline } from '../../src/run/sync.js';
import { verifyLake } from '../../src/verify/verify-lake.js';
import { startFaultyProxy } from '../remote/faulty-proxy.js';
import type { Asked } from '../remote/s3-server.js';
import { makePipeline, openWorld, testIo } from '../run/world.js';
import { MAIN, makeEngine } from '../workers/cluster.js';
import { DATED, landHardRows, TABLES } from '../workers/hard-copy.js';

/**
 * Runs on a Spark cluster whose machines share nothing but object storage: `try-remote.ts <endpoint> <folder> <phase>
 * <command that submits a script> …`. Machines of the cluster don't see the folder, which has the lakes. Phase `life` has
 * hard values, increments and complete copies, a store that fails for seconds, and runs that are killed before and after
 * commits; `questions` are answered by Spark from the store; `losses` is for a cluster that loses workers meanwhile. All tables are compared with those of plain runs.
 */
const [, , endpoint = '', folder = '', phase = '', ...submit] = process.argv;
const CHILD = fileURLToPath(new URL('../remote/killed-run.ts', import.meta.url));
const bucket = `cluster-${Date.now()}`;
const proxy = await startFaultyProxy(endpoint);
const world = await openWorld({ items: 200, sites: 4, pastDays: 3 });
let failures = 0;

function check(what: string, isTrue: boolean, detail = ''): void {
  process.stdout.write(`${isTrue ? 'ok    ' : 'FAILED'} ${what}${isTrue ? '' : `: ${detail}`}\n`);
  if (!isTrue) failures += 1;
}

type Engine = 'cluster' | 'here';

function machine(name: string, prefix: string, engine: Engine) {
  const pipeline = makePipeline(world.sandbox, path.join(folder, name));
  const remote = `s3://${bucket}/${prefix}?endpoint=${proxy.endpoint}`;
  return {
    ...pipeline,
    lake: { ...pipeline.lake, remote, retention: 3_600_000 },
    engine: engine === 'cluster' ? makeEngine(submit, 'remote') : {},
  };
}

const plain = (name: string) => makePipeline(world.sandbox, path.join(folder, name));

/** Each task of a run, with the seconds and bytes that it took. */
const tell: Io = {
  ...realIo,
  log(_level, event, facts) {
    if (event === 'spark.done') process.stdout.write(`       ${JSON.stringify(facts)}\n`);
  },
};

/** All rows of a lake's newest version, without what tells one run from another. */
async function readCurrent(lakePath: string): Promise<Map<string, string[]>> {
  const lake = await openLake(lakePath, { create: false });
  const session = await openSession();
  try {
    await createTableViews(session.db, lake);
    const left = [...DATED, 'run_id'].map((name) => `'${name}'`).join();
    const rows = new Map<string, string[]>();
    for (const table of TABLES) {
      const found = await session.db.rows(
        `SELECT CAST(to_json(t) AS VARCHAR) AS text FROM (SELECT COLUMNS(c -> NOT list_contains([${left}], c)) FROM ${table}) AS t ORDER BY 1`,
      );
      rows.set(
        table,
        found.map(({ text }) => String(text)),
      );
    }
    return rows;
  } finally {
    await session.close();
  }
}

let readers = 0;
/** A machine that has nothing gets the whole remote, which is proved, and has the rows of the plain lake. */
async function compare(what: string, prefix: string, plainPath: string, isHard = false): Promise<void> {
  const { lake } = machine(`reader-${++readers}`, prefix, 'here');
  await withRemote(lake, testIo, undefined, async (remote) => remote?.bringAll());
  const [mine, its] = [await readCurrent(plainPath), await readCurrent(lake.path)];
  const odd = [...mine].find(([table, rows]) => JSON.stringify(rows) !== JSON.stringify(its.get(table)));
  const count = [...mine.values()].reduce((sum, rows) => sum + rows.length, 0);
  const at = odd?.[1].findIndex((row, place) => row !== its.get(odd[0])?.[place]) ?? 0;
  check(`${what}: ${count} rows`, odd === undefined, `${odd?.[0]}: ${odd?.[1][at]} | ${its.get(odd?.[0] ?? '')?.[at]}`);
  const session = await openSession();
  const stop = new AbortController().signal;
  const proofs = await verifyLake(await openLake(lake.path, { create: false }), session.db, { signal: stop }, testIo);
  await session.close();
  const failed = proofs.filter(({ name, found }) => found > 0 && !(isHard && name === 'landing'));
  check(
    `${what}: verify`,
    failed.length === 0,
    JSON.stringify(failed.map(({ name, findings }) => [name, findings[0]])),
  );
  const store = await openStore(lake.remote, testIo);
  const left = await store.list('_pricelake/exchange/');
  store.close();
  check(`${what}: no object of a run's work is left`, left.length === 0, left.map(({ key }) => key).join());
  await rm(lake.path, { recursive: true });
}

async function tryHardRows(format: 'ndjson' | 'csv'): Promise<void> {
  const landed = await landHardRows(world, format);
  await world.sync();
  const pipeline = machine(`hard-${format}`, `hard-${format}`, 'cluster');
  await cp(landed, pipeline.lake.path, { recursive: true });
  await syncPipeline(pipeline, tell);
  await compare(`a first copy with hard values in ${format}`, `hard-${format}`, world.lakePath, true);
  world.renew();
}

/** A run in a process of its own, which SIGKILL ends at a request: before it takes effect. @returns how it ended otherwise */
async function killAt(pipeline: unknown, isTheOne: (asked: Asked) => boolean): Promise<string | undefined> {
  const args = ['--import', 'tsx', CHILD, JSON.stringify(pipeline)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let [isKilled, said] = [false, ''];
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-3000);
  });
  proxy.fault = (asked) => {
    if (isKilled || !isTheOne(asked)) return undefined;
    isKilled = true;
    child.kill('SIGKILL');
    return 'hang';
  };
  const [code] = await once(child, 'exit');
  proxy.fault = () => undefined;
  return isKilled ? undefined : `it ended with ${code}, without such a request: ${said}`;
}

async function tryLife(): Promise<void> {
  const one = machine('one', 'life', 'cluster');
  await syncPipeline(one, tell);
  await syncPipeline(plain('plain'), testIo);
  await compare('a first copy', 'life', plain('plain').lake.path);
  const advance = () => world.sandbox.advance({ hours: 6, changes: 60 });

  // The network to the store is away for five seconds, again and again.
  await advance();
  const began = Date.now();
  let failed = 0;
  proxy.fault = () => {
    if ((Date.now() - began) % 15_000 > 5_000) return undefined;
    failed += 1;
    return 'reset';
  };
  await syncPipeline(one, tell);
  proxy.fault = () => undefined;
  await syncPipeline(plain('plain'), testIo);
  await compare(`an increment, ${failed} requests of which met no store`, 'life', plain('plain').lake.path);

  const places: [string, (asked: Asked) => boolean][] = [
    ['as a worker sends', ({ method, key }) => method === 'PUT' && /\/exchange\/.*\/typed\//.test(key)],
    ['as the run gets a slice', ({ method, key }) => method === 'GET' && /\/exchange\/.*\/staging\//.test(key)],
    ['before a commit of history', ({ method, key }) => method === 'PUT' && key.includes('/history/_delta_log/')],
    ['after it', ({ method, key }) => method === 'PUT' && key.includes('/items/_delta_log/')],
    ['after a commit of items', ({ method, key }) => method === 'PUT' && /\/(products|offers)\/_delta_log\//.test(key)],
    ['before the commit of runs', ({ method, key }) => method === 'PUT' && key.includes('/runs/_delta_log/')],
    ['after the last commit', ({ method, key }) => method === 'PUT' && key.endsWith('/lake.json')],
  ];
  for (const [at, [where, isTheOne]] of places.entries()) {
    await advance();
    const other = await killAt(one, isTheOne);
    // In turns, another machine without a cluster takes over, and the same one goes on with its cluster.
    await syncPipeline(at % 2 === 0 ? machine('two', 'life', 'here') : one, tell);
    await syncPipeline(plain('plain'), testIo);
    check(`a run was killed ${where}`, other === undefined, other);
  }
  await compare('runs that were killed', 'life', plain('plain').lake.path);

  await advance();
  const source = { ...one.source, mode: 'snapshot' as const };
  await syncPipeline({ ...one, source }, tell);
  await syncPipeline({ ...plain('plain'), source }, testIo);
  await compare('a complete copy later', 'life', plain('plain').lake.path);
}

const QUESTIONS = [['movers', '--set', 'since_run=0'], ['spread_summary']];

/** Spark reads the object storage itself, and this machine only logs and `sites`. */
async function tryQuestions(): Promise<void> {
  const writer = machine('writer', 'asked', 'here');
  await syncPipeline(writer, testIo);
  await world.sandbox.advance({ hours: 26, changes: 60 });
  await syncPipeline(writer, testIo);
  const place = path.join(folder, 'asking');
  await mkdir(place);
  const source = { baseUrl: world.sandbox.baseUrl, apiKey: { file: 'key' } };
  const engine = { spark: { submit } };
  await writeFile(path.join(place, 'prices.yaml'), stringify({ source, lake: { path: 'none' }, engine }));
  const remote = `s3://${bucket}/asked?endpoint=${endpoint}`;
  const ask = async (analysis: string, ...more: string[]) => {
    const cache = ['--cache', path.join(place, more.includes('spark') ? 'spark' : 'here')];
    const args = ['query', '--analysis', analysis, '--remote', remote, ...cache, '--format', 'csv', ...more];
    return (await promisify(execFile)(process.execPath, [MAIN, ...args], { cwd: place, maxBuffer: 1e9 })).stdout;
  };
  for (const [analysis = '', ...more] of QUESTIONS) {
    const [here, there] = [await ask(analysis, ...more), await ask(analysis, ...more, '--engine', 'spark')];
    const rows = here.split('\n').length - 2;
    check(
      `query --engine spark --remote of ${analysis}: ${rows} rows`,
      rows > 0 && here === there,
      there.slice(0, 500),
    );
  }
  const fetched = await readdir(path.join(place, 'spark'), { recursive: true });
  const others = fetched.filter((name) => name.endsWith('.parquet') && !/\/(?:_delta_log|sites)\//.test(name));
  check('this machine fetched logs and sites alone', others.length === 0, others.join());
}

async function tryLosses(): Promise<void> {
  const one = machine('losing', 'losses', 'cluster');
  await syncPipeline(one, tell);
  await syncPipeline(plain('losing-plain'), testIo);
  await world.sandbox.advance({ hours: 6, changes: 60 });
  const source = { ...one.source, mode: 'snapshot' as const };
  await syncPipeline({ ...one, source }, tell);
  await syncPipeline({ ...plain('losing-plain'), source }, testIo);
  await compare('complete copies on a cluster that loses workers', 'losses', plain('losing-plain').lake.path);
}

const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true });
await client.send(new CreateBucketCommand({ Bucket: bucket }));
client.destroy();
try {
  if (phase === 'losses') await tryLosses();
  else if (phase === 'questions') await tryQuestions();
  else {
    await tryHardRows('ndjson');
    await tryHardRows('csv');
    await tryLife();
  }
} finally {
  await world.close();
  await proxy.close();
}
process.stdout.write(failures === 0 ? 'all passed\n' : `${failures} failed\n`);
process.exitCode = failures === 0 ? 0 : 1;
