/**
 * npm run bench:restore [-- --items 50000 --runs 20 --changes 100 --delay 0]
 * Measures what runs upload to and download from object storage. One machine publishes a first copy and some runs, then
 * other machines run. The store is the tests' S3 server, in this process; `--delay` delays each of its responses by
 * milliseconds. Prints Markdown.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { pipelineSchema } from '../src/config/pipeline-schema.js';
import { realIo } from '../src/io/real-io.js';
import { startSandbox } from '../src/sandbox/start.js';
import { syncWithWings } from '../src/wings/index.js';
import { withRemote } from '../src/wings/remote/remote.js';
import { startS3, withCredentials } from '../test/remote/s3-server.js';

const { values } = parseArgs({
  options: {
    items: { type: 'string', default: '50000' },
    runs: { type: 'string', default: '20' },
    changes: { type: 'string', default: '100' },
    delay: { type: 'string', default: '0' },
  },
});
const [items, runs, changes] = [Number(values.items), Number(values.runs), Number(values.changes)];
const folder = await mkdtemp(path.join(tmpdir(), 'pricelake-restore-'));
const sandbox = await startSandbox({ items, ratePerSecond: null });
const s3 = await startS3();
const restoreEnvironment = withCredentials();
const io = { ...realIo, log: () => {} };
const remote = `s3://bucket/prices?endpoint=${s3.endpoint}`;

function machine(name: string) {
  const source = { baseUrl: sandbox.baseUrl, apiKey: 'key' };
  const settings = { name: 'bench', source, lake: { path: path.join(folder, name), remote } };
  const pipeline = pipelineSchema.parse(settings);
  return { ...pipeline, file: 'bench.yaml', source: { ...pipeline.source, apiKey: sandbox.keys.live } };
}

const sync = (name: string) => syncWithWings(machine(name), io);
const advance = () => sandbox.advance({ hours: 6, changes });
const isDataFile = (key: string) => key.endsWith('.parquet') && !key.includes('_delta_log');

/**
 * Formats a row of the table: uploads by `work`, downloaded data files and other objects, all requests, and seconds.
 */
async function measure(what: string, work: () => Promise<unknown>): Promise<void> {
  s3.asked.length = 0;
  s3.delayMs = Number(values.delay);
  const start = performance.now();
  await work();
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  s3.delayMs = 0;
  const got = s3.asked.flatMap(({ method, key }) => {
    const bytes = method === 'GET' && key !== '' ? s3.objects.get(key)?.bytes.length : undefined;
    return bytes === undefined ? [] : [{ key, bytes }];
  });
  const sent = s3.asked.flatMap(({ key, sent: bytes = 0 }) => (bytes > 0 ? [{ key, bytes }] : []));
  const describe = (some: typeof got) => {
    const megabytes = some.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6;
    return `${some.length} | ${megabytes.toFixed(megabytes < 10 ? 2 : 0)} MB`;
  };
  const data = describe(got.filter(({ key }) => isDataFile(key)));
  console.log(
    `| ${what} | ${describe(sent)} | ${data} | ${describe(got.filter(({ key }) => !isDataFile(key)))} | ${s3.asked.length} | ${seconds} |`,
  );
}

try {
  console.log('| run | sent | | data files got | | other objects got | | requests | s |');
  console.log(`| --- |${' --- |'.repeat(8)}`);
  await measure('first copy', () => sync('one'));
  for (let run = 1; run <= runs; run++) {
    await advance();
    await sync('one');
  }
  await advance();
  await measure(`the same disk, ${changes} changes`, () => sync('one'));
  await measure('the same disk, nothing new', () => sync('one'));
  await measure('empty disk, nothing new', () => sync('idle'));
  await measure('the whole lake (`restore`)', () =>
    withRemote(machine('whole').lake, io, undefined, async (held) => held?.bringAll()),
  );
  await advance();
  await measure(`empty disk, ${changes} changes`, () => sync('empty'));
  await measure('that disk, kept: nothing new', () => sync('empty'));
  await advance();
  await sync('one');
  await measure('that disk after a run of another machine, nothing new', () => sync('empty'));
  await advance();
  await measure(`that disk, ${changes} changes`, () => sync('empty'));
  await advance();
  await sync('empty');
  await advance();
  await measure(`a whole folder after a run of another machine, ${changes} changes`, () => sync('one'));
} finally {
  restoreEnvironment();
  await sandbox.close();
  await s3.close();
  await rm(folder, { recursive: true, force: true });
}
