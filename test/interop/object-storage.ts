import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { PricelakeError } from '../../src/errors/errors.js';
import { makeNote } from '../../src/remote/copy-note.js';
import { takeLease } from '../../src/remote/lease.js';
import { refuseUnconditional } from '../../src/remote/probe.js';
import { openStore } from '../../src/remote/with-remote.js';
import { syncPipeline } from '../../src/sync/sync.js';
import { makePipeline, openWorld, testIo } from '../sync/world.js';

/**
 * Tries an object storage as the place of a lake: `object-storage.ts <endpoint> <folder>`, credentials in the environment.
 * Writes `<folder>/remote.json`: where the lake is, and the folder of the last machine, to compare the two.
 */
const [, , endpoint, folder] = process.argv;
if (endpoint === undefined || folder === undefined) throw new Error('usage: object-storage.ts <endpoint> <folder>');
const ROUNDS = Number(process.env.ROUNDS ?? 1000);
const bucket = `lake-${Date.now()}`;
const address = (prefix: string) => `s3://${bucket}/${prefix}?endpoint=${endpoint}`;

const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true });
await client.send(new CreateBucketCommand({ Bucket: bucket }));
client.destroy();

await tryCredentials();
await tryLargeFile();
await tryRaces();
await tryMachines();

/** What is expected, or the end of the whole. */
function demand(what: string, isTrue: boolean): void {
  if (!isTrue) throw new Error(`${what}: not as expected`);
}

async function tryCredentials(): Promise<void> {
  const { AWS_SECRET_ACCESS_KEY: secret } = process.env;
  process.env.AWS_SECRET_ACCESS_KEY = 'wrong';
  const store = await openStore(address('credentials'), testIo);
  const error = await store.list('').catch((fault: unknown) => fault);
  demand('a wrong secret', error instanceof PricelakeError && error.code === 'unauthorized');
  process.env.AWS_SECRET_ACCESS_KEY = secret;
  store.close();
  console.log('a wrong secret is refused');
}

async function tryLargeFile(): Promise<void> {
  const store = await openStore(address('large'), testIo);
  await refuseUnconditional(store);
  const [file, back] = [path.join(folder as string, 'large'), path.join(folder as string, 'back')];
  const bytes = Buffer.alloc(50 * 1024 * 1024, 'prices');
  await writeFile(file, bytes);
  await store.upload('a/large=1.parquet', file, bytes.length);
  await store.download('a/large=1.parquet', back);
  demand('a file of four parts', (await readFile(back)).equals(bytes));
  store.close();
  console.log('conditions are honoured; 50 MB in four parts come back as they were');
}

/** Two writers at once, which both take the lease, and both create the same log entry. */
async function tryRaces(): Promise<void> {
  const stores = [await openStore(address('races'), testIo), await openStore(address('races'), testIo)];
  const notes = stores.map(({ url }) => makeNote(url));
  const since = Date.now();
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
  const seconds = ((Date.now() - since) / 1000).toFixed(0);
  console.log(`${ROUNDS} rounds of two writers: one lease and one entry in each (${wins.join(' to ')}), ${seconds} s`);
}

/** Runs of a service on two machines in turns, one of which loses its disk each time. */
async function tryMachines(): Promise<void> {
  const world = await openWorld({ items: 400, sites: 6 });
  const machine = (name: string) => {
    const pipeline = makePipeline(world.sandbox, path.join(folder as string, name));
    return { ...pipeline, lake: { ...pipeline.lake, remote: address('prices'), retention: 3_600_000 } };
  };
  try {
    for (let run = 1; run <= 12; run++) {
      const one = machine(run % 2 === 0 ? 'even' : 'odd');
      if (run % 4 === 0) await rm(one.lake.path, { recursive: true, force: true });
      const { row } = await syncPipeline(one, testIo);
      demand(`run ${run}`, row.run_number === BigInt(run));
      await world.sandbox.advance({ hours: 6, changes: 60 });
    }
    const lake = machine('even').lake.path;
    await writeFile(
      path.join(folder as string, 'remote.json'),
      JSON.stringify({ url: `s3://${bucket}/prices`, endpoint, lake }),
    );
    console.log('12 runs on two machines in turns');
  } finally {
    await world.close();
  }
}
