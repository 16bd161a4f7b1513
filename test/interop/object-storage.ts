import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { parseRemoteUrl, type RemoteUrl } from '../../src/formats/remote-url.js';
import { PricelakeError } from '../../src/io/errors.js';
import { openLake } from '../../src/lake/lake.js';
import { readTable } from '../../src/lake/read.js';
import { openSession } from '../../src/lake/session.js';
import { verifyLake } from '../../src/verify/verify-lake.js';
import { syncWithWings } from '../../src/wings/index.js';
import { makeNote, takeLease } from '../../src/wings/remote/lease.js';
import { refuseUnconditional } from '../../src/wings/remote/object-store.js';
import { openStore, withRemote } from '../../src/wings/remote/remote.js';
import { openS3Store } from '../../src/wings/remote/s3-store.js';
import { FAULTS, outlastFault, outlastInParts } from '../remote/fault-scenario.js';
import { startFaultyProxy } from '../remote/faulty-proxy.js';
import { killAtRequests } from '../remote/kill-scenario.js';
import { makePipeline, openWorld, readItems, testIo, type World } from '../run/world.js';
import { createSeeded } from '../seeded.js';

/**
 * Tries an object storage as the place of a lake: `object-storage.ts <endpoint> <folder>`, credentials in the environment.
 * Notes what it found in the file $RESULTS, for the page. Writes `<folder>/remote.json`: where a lake is, and the folder
 * of the last machine, to compare the two.
 */
const [, , endpoint, folder] = process.argv;
if (endpoint === undefined || folder === undefined) throw new Error('usage: object-storage.ts <endpoint> <folder>');
const place = folder;
const ROUNDS = Number(process.env.ROUNDS ?? 1000);
const KILLS = Number(process.env.KILLS ?? 12);
const CHILD = fileURLToPath(new URL('../remote/killed-run.ts', import.meta.url));
const bucket = `lake-${Date.now()}`;
const proxy = await startFaultyProxy(endpoint);
const address = (prefix: string, through = endpoint) => `s3://${bucket}/${prefix}?endpoint=${through}`;
await mkdir(place, { recursive: true });

const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true });
await client.send(new CreateBucketCommand({ Bucket: bucket }));
client.destroy();

await tryCredentials();
await tryLargeFile();
await tryFaults();
await tryKills();
await tryMachines();
await tryFaultyRuns();
await tryKilledRuns();
await tryRaces();
await proxy.close();

/** What is expected, or the end of the whole. */
function demand(what: string, isTrue: boolean): void {
  if (!isTrue) throw new Error(`${what}: not as expected`);
}

async function note(what: string, result: string): Promise<void> {
  console.log(`${what}: ${result}`);
  if (process.env.RESULTS === undefined) return;
  await appendFile(process.env.RESULTS, `${JSON.stringify({ tool: 'pricelake', what, result })}\n`);
}

async function tryCredentials(): Promise<void> {
  const { AWS_SECRET_ACCESS_KEY: secret } = process.env;
  process.env.AWS_SECRET_ACCESS_KEY = 'wrong';
  const store = await openStore(address('credentials'), testIo);
  const error = await store.list('').catch((fault: unknown) => fault);
  demand('a wrong secret', error instanceof PricelakeError && error.code === 'unauthorized');
  process.env.AWS_SECRET_ACCESS_KEY = secret;
  store.close();
  await note('a wrong secret', 'refused as `unauthorized`');
}

async function tryLargeFile(): Promise<void> {
  const store = await openStore(address('large'), testIo);
  await refuseUnconditional(store);
  await note('`If-None-Match: *`', 'supported');
  const [file, back] = [path.join(place, 'large'), path.join(place, 'back')];
  const bytes = Buffer.alloc(50 * 1024 * 1024, 'prices');
  await writeFile(file, bytes);
  await store.upload('a/large=1.parquet', file, bytes.length);
  await store.download('a/large=1.parquet', back, bytes.length);
  demand('a file of four parts', (await readFile(back)).equals(bytes));
  store.close();
  await note('a file of 50 MB in four parts', 'is returned unchanged');
}

/** Between client and store, once for each kind of request. */
async function tryFaults(): Promise<void> {
  const store = await openS3Store(parseRemoteUrl(address('faults', proxy.endpoint)) as RemoteUrl, testIo, {
    silenceMs: 2000,
  });
  for (const fault of FAULTS) {
    await outlastFault(store, proxy, fault, place);
    await outlastInParts(store, proxy, fault, place);
  }
  store.close();
  await note(
    `faults between client and store: ${FAULTS.join(', ')}`,
    'each outlasted by every kind of request, and by each request of a file in parts',
  );
}

async function tryKills(): Promise<void> {
  let places = 0;
  const open = () => openStore(address(`kills-${++places}`, proxy.endpoint), testIo);
  const putAhead = (ms: number) => {
    proxy.aheadMs = ms;
  };
  const killed = await killAtRequests({ open, putAhead }, 1);
  await note(
    `an upload that is killed at each of its ${killed} requests`,
    'whole versions; this machine and another one continue from there',
  );
}

/** A machine whose disk is as its last run left it, or empty; `through` is where it finds the store. */
function machine(world: World, name: string, prefix: string, through = endpoint) {
  const pipeline = makePipeline(world.sandbox, path.join(place, name), { checks: 'all' });
  return { ...pipeline, lake: { ...pipeline.lake, remote: address(prefix, through), retention: 3_600_000 } };
}

/** Items as the newest version has them. */
async function readCurrentItems(lakePath: string): Promise<string> {
  const { files } = await readTable(await openLake(lakePath, { create: false }), 'items');
  const items = await Promise.all(files.map((file) => readItems(lakePath, `items/${file.path}`)));
  return JSON.stringify(items.flatMap((rows) => [...rows.values()].map(String)).sort());
}

/** The remote, fetched whole by a machine that has nothing, is proved whole, and has the items of the service. */
async function demandSound(world: World, prefix: string): Promise<void> {
  const { lake: settings } = machine(world, `${prefix}-whole`, prefix);
  await withRemote(settings, testIo, undefined, async (remote) => remote?.bringAll());
  const lake = await openLake(settings.path, { create: false });
  const session = await openSession();
  try {
    const failed = (await verifyLake(lake, session.db, { signal: new AbortController().signal }, testIo)).filter(
      ({ found }) => found > 0,
    );
    demand(`${prefix}: ${failed.map(({ name }) => name).join(', ')}`, failed.length === 0);
  } finally {
    await session.close();
  }
  const direct = makePipeline(world.sandbox, path.join(place, `${prefix}-direct`));
  await syncWithWings(direct, testIo);
  const [here, there] = [await readCurrentItems(settings.path), await readCurrentItems(direct.lake.path)];
  demand(`${prefix}: items`, here === there);
}

/** Two machines in turns while every twentieth request meets a fault. */
async function tryFaultyRuns(): Promise<void> {
  const world = await openWorld({ items: 400, sites: 6 });
  const random = createSeeded(14);
  let met = 0;
  proxy.fault = () => {
    if (random.fraction() >= 0.05) return undefined;
    met += 1;
    return random.pick(['500', '503', 'reset', 'cut', 'lost', 'slow'] as const);
  };
  try {
    for (let run = 1; run <= 6; run++) {
      const one = machine(world, run % 2 === 0 ? 'faulty-even' : 'faulty-odd', 'faulty', proxy.endpoint);
      if (run % 3 === 0) await rm(one.lake.path, { recursive: true, force: true });
      const { row } = await syncWithWings(one, testIo);
      demand(`run ${run}`, row.run_number === BigInt(run));
      await world.sandbox.advance({ hours: 6, changes: 60 });
    }
    proxy.fault = () => undefined;
    await syncWithWings(machine(world, 'faulty-odd', 'faulty', proxy.endpoint), testIo);
    await demandSound(world, 'faulty');
    await note(
      '6 runs alternating between two machines, with a fault at every twentieth request',
      `${met} faults; the lake passes all proofs and has the items of the service`,
    );
  } finally {
    proxy.fault = () => undefined;
    await world.close();
  }
}

/** Runs in processes of their own, which SIGKILL ends at a request; another machine, or the same, goes on. */
async function tryKilledRuns(): Promise<void> {
  const world = await openWorld({ items: 400, sites: 6 });
  try {
    await syncWithWings(machine(world, 'killed-one', 'killed', proxy.endpoint), testIo);
    let requests = 0;
    for (let kill = 0; kill <= KILLS; kill++) {
      await world.sandbox.advance({ hours: 6, changes: 60 });
      const [dying, other] = ['killed-one', 'killed-two'].map((name) =>
        machine(world, name, 'killed', proxy.endpoint),
      ) as [ReturnType<typeof machine>, ReturnType<typeof machine>];
      proxy.asked.length = 0;
      // The first one lives, and says how many requests there are.
      await runChild(dying, kill === 0 ? undefined : Math.ceil((requests * kill) / (KILLS + 1)));
      if (kill === 0) requests = proxy.asked.length;
      await syncWithWings(kill % 2 === 0 ? dying : other, testIo);
    }
    await demandSound(world, 'killed');
    await note(
      `${KILLS} runs ended by SIGKILL, at ${KILLS} of their ${requests} requests`,
      'the same machine or another one continues; the lake passes all proofs and has the items of the service',
    );
  } finally {
    await world.close();
  }
}

async function runChild(pipeline: unknown, killAt: number | undefined): Promise<void> {
  const child = spawn(process.execPath, ['--import', 'tsx', CHILD, JSON.stringify(pipeline)], { stdio: 'ignore' });
  proxy.fault = ({ count }) => {
    if (count !== killAt) return undefined;
    child.kill('SIGKILL');
    return 'hang';
  };
  const [code, signal] = await once(child, 'exit');
  proxy.fault = () => undefined;
  demand(`a run killed at ${killAt}`, killAt === undefined ? code === 0 : signal === 'SIGKILL');
}

/** Two writers at once, which both take the lease, and both create the same log entry. */
async function tryRaces(): Promise<void> {
  const stores = [await openStore(address('races'), testIo), await openStore(address('races'), testIo)];
  const notes = stores.map(({ url }) => makeNote(url));
  const wins = [0, 0];
  for (let round = 0; round < ROUNDS; round++) {
    const leases = await Promise.allSettled(
      stores.map((store, one) => takeLease(store, notes[one] as (typeof notes)[0], testIo)),
    );
    const held = leases.flatMap((lease) => (lease.status === 'fulfilled' ? [lease.value] : []));
    demand(`round ${round}: leases held`, held.length === 1);
    const key = `runs/_delta_log/${String(round).padStart(20, '0')}.json`;
    const created = await Promise.all(stores.map((store, one) => store.create(key, Buffer.from(`writer ${one}`))));
    demand(`round ${round}: entries created`, created.filter(Boolean).length === 1);
    const winner = created.indexOf(true);
    wins[winner] = (wins[winner] ?? 0) + 1;
    const entry = await (stores[1 - winner] as (typeof stores)[0]).read(key);
    demand(`round ${round}: the entry`, entry?.bytes.toString() === `writer ${winner}`);
    await held[0]?.release();
  }
  for (const store of stores) store.close();
  await note(`${ROUNDS} rounds of two writers`, `one lease and one log entry in each (${wins.join(' to ')})`);
}

/** Runs of a service on two machines in turns, one of which loses its disk each time. */
async function tryMachines(): Promise<void> {
  const world = await openWorld({ items: 400, sites: 6 });
  try {
    for (let run = 1; run <= 12; run++) {
      const one = machine(world, run % 2 === 0 ? 'even' : 'odd', 'prices');
      if (run % 4 === 0) await rm(one.lake.path, { recursive: true, force: true });
      const { row } = await syncWithWings(one, testIo);
      demand(`run ${run}`, row.run_number === BigInt(run));
      await world.sandbox.advance({ hours: 6, changes: 60 });
    }
    const { lake } = machine(world, 'even', 'prices');
    await withRemote(lake, testIo, undefined, async (remote) => remote?.bringAll());
    await writeFile(
      path.join(place, 'remote.json'),
      JSON.stringify({ url: `s3://${bucket}/prices`, endpoint, lake: lake.path }),
    );
    await note('12 runs alternating between two machines, one of which sometimes loses its disk', 'one lake');
  } finally {
    await world.close();
  }
}
