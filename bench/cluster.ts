/**
 * npm run bench:cluster -- --submit 'spark-submit --master spark://HOST:7077' [--items 1000000 --past-days 333 --memory 400MB]
 * [--remote 's3://bucket/prefix?endpoint=…']
 * First copies of one world with its past, on this machine alone, by a Spark cluster on it, and by one that gets files by the
 * remote alone. Prints Markdown. CPU seconds are those of the whole machine without the sandbox's, so that Java's count;
 * nothing else may run meanwhile.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { openLake } from '../src/lake/lake.js';
import { createTableViews } from '../src/lake/views.js';
import { Database } from '../src/sql/connection.js';
import { type BenchSandbox, CLI, startSandbox, sync } from './processes.js';

const { values } = parseArgs({
  options: {
    items: { type: 'string', default: '1000000' },
    'past-days': { type: 'string', default: '333' },
    memory: { type: 'string', default: '400MB' },
    submit: { type: 'string' },
    remote: { type: 'string' },
  },
});
if (values.submit === undefined) throw new Error('--submit is missing: the command that submits to the cluster');

const WORK = await mkdtemp(path.join(tmpdir(), 'pricelake-cluster-'));

const describePipeline = (lake: string, engine: object, remote: string | undefined) => `name: bench
source:
  baseUrl: \${PRICELAKE_BASE_URL}
  apiKey: \${PRICELAKE_API_KEY}
lake: { path: ${lake}, memory: ${values.memory}${remote === undefined ? '' : `, remote: "${remote}"`} }
landing: { keep: 0 }
engine: ${JSON.stringify(engine)}
`;

/** The cluster's share of the work, from the log of `sync`. */
interface Used {
  tasks: number;
  cpuSeconds: number;
  maxBytes: number;
  sentBytes: number;
  gotBytes: number;
}

/** CPU seconds that all processes of the machine have used. */
const readMachine = () =>
  cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0) / 1000;

async function copy(sandbox: BenchSandbox, name: string, engine: object, remote?: string): Promise<void> {
  const lake = path.join(WORK, name);
  const file = path.join(WORK, `${name}.yaml`);
  await writeFile(file, describePipeline(lake, engine, remote));
  const read = async () => readMachine() - ((await sandbox.readCpuSeconds()) ?? 0);
  const before = await read();
  const { seconds, cpuSeconds, peakBytes, stderr } = await sync(sandbox, file, { PRICELAKE_DEBUG: '1' });
  const all = (await read()) - before;
  const events = stderr.split('\n').filter((line) => line.startsWith('{'));
  const used = events.map((line) => JSON.parse(line)).find(({ event }) => event === 'spark.done') as Used | undefined;
  const cells = [
    ...[name, seconds, all, cpuSeconds, peakBytes / 2 ** 20],
    ...[used?.tasks ?? '', used?.cpuSeconds ?? '', used === undefined ? '' : used.maxBytes / 2 ** 20],
    ...[used === undefined ? '' : used.gotBytes / 1e6, used === undefined ? '' : used.sentBytes / 1e6],
    ...Object.values(await countRows(lake)),
  ];
  console.log(
    `| ${cells.map((cell) => (typeof cell === 'number' ? Math.round(cell).toLocaleString('en') : cell)).join(' | ')} |`,
  );
  await rm(lake, { recursive: true });
}

async function countRows(root: string): Promise<Record<string, number>> {
  const db = await Database.open({});
  try {
    await createTableViews(db, await openLake(root, { create: false }));
    const row = await db.row(`SELECT (SELECT count(*) FROM items) AS items, (SELECT count(*) FROM history) AS history,
      (SELECT count(*) FROM offers) AS offers, (SELECT count(*) FROM price_spread_daily) AS days`);
    return Object.fromEntries(Object.entries(row ?? {}).map(([name, rows]) => [name, Number(rows)]));
  } finally {
    await db.close();
  }
}

const COLUMNS = [
  '',
  'seconds',
  'CPU s of all',
  'CPU s of sync',
  'peak MB of sync',
  'tasks',
  'CPU s of tasks',
  'peak MB of a task',
  'MB that tasks got',
  'MB that they sent',
];
const TABLES = ['items', 'history', 'offers', 'price_spread_daily'];

const sandbox = await startSandbox(Number(values.items), ['--plan', 'unlimited', '--past-days', values['past-days']]);
try {
  console.log(`| ${[...COLUMNS, ...TABLES].join(' | ')} |\n|${' --- |'.repeat(COLUMNS.length + TABLES.length)}`);
  await copy(sandbox, 'alone', {});
  const spark = { submit: values.submit.split(' '), worker: [process.execPath, CLI], leastRows: 0 };
  await copy(sandbox, 'cluster', { spark });
  if (values.remote !== undefined)
    await copy(sandbox, 'by-remote', { spark: { ...spark, exchange: 'remote' } }, values.remote);
} finally {
  await sandbox.stop();
  await rm(WORK, { recursive: true, force: true });
}
