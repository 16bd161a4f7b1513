/**
 * npm run bench:cluster -- --submit 'spark-submit --master spark://HOST:7077' [--items 1000000 --past-days 333 --memory 400MB]
 * [--changes 5000000] [--remote 's3://bucket/prefix?endpoint=…']
 * First copies of one world with its past, on this machine alone, by a Spark cluster on it, and by one that gets files by the
 * remote alone; then runs that bring so many changes, as many a day as there are items. Prints Markdown. CPU seconds are those
 * of the whole machine without the sandbox's, so that Java's count; nothing else may run meanwhile.
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
    changes: { type: 'string', default: '0' },
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

/** A way to run: alone, by a cluster, or by a cluster that shares the remote alone. */
interface Way {
  name: string;
  engine: object;
  remote?: string;
}

/** Brings the lake of a way up to date, and prints what that took. */
async function measure(sandbox: BenchSandbox, what: string, { name, engine, remote }: Way): Promise<void> {
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
    ...[`${what}, ${name}`, seconds, all, cpuSeconds, peakBytes / 2 ** 20],
    ...[used?.tasks ?? '', used?.cpuSeconds ?? '', used === undefined ? '' : used.maxBytes / 2 ** 20],
    ...[used === undefined ? '' : used.gotBytes / 1e6, used === undefined ? '' : used.sentBytes / 1e6],
    ...Object.values(await countRows(lake)),
  ];
  console.log(
    `| ${cells.map((cell) => (typeof cell === 'number' ? Math.round(cell).toLocaleString('en') : cell)).join(' | ')} |`,
  );
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

const items = Number(values.items);
const changes = Number(values.changes);
const spark = { submit: values.submit.split(' '), worker: [process.execPath, CLI], leastRows: 0 };
const ways: Way[] = [
  { name: 'alone', engine: {} },
  { name: 'cluster', engine: { spark } },
  ...(values.remote === undefined
    ? []
    : [{ name: 'remote', engine: { spark: { ...spark, exchange: 'remote' } }, remote: values.remote }]),
];
const sandbox = await startSandbox(items, ['--plan', 'unlimited', '--past-days', values['past-days']]);
try {
  console.log(`| ${[...COLUMNS, ...TABLES].join(' | ')} |\n|${' --- |'.repeat(COLUMNS.length + TABLES.length)}`);
  for (const way of ways) await measure(sandbox, 'first copy', way);
  if (changes > 0) await sandbox.advance(changes, (24 * changes) / items);
  if (changes > 0) for (const way of ways) await measure(sandbox, `${changes.toLocaleString('en')} changes`, way);
} finally {
  await sandbox.stop();
  await rm(WORK, { recursive: true, force: true });
}
