/**
 * npm run bench:explore [-- --items 1000000 --changes 5000000 --times 9 --plain 1] [--lake DIR] [--analyses]
 * Measures how long a reader waits for each page of `pricelake explore`, and how long plain DuckDB takes for the same
 * questions on the same Parquet files. Each request uses different values, so that cached answers don't hide the cost.
 * Plain DuckDB runs once per page, because it prepares nothing. The ratio compares CPU times, which other load affects
 * least. The lake is generated once per size in the temporary folder. Prints Markdown; a star marks a page that misses
 * its target. `--analyses` measures every analysis too.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { listAnalysisPages, listOwnPrices, listPages, listProducts, type PageKind } from './explore-pages.js';
import { makeMovedLake } from './moved-lake.js';
import { PlainLake, type PlainQuestion, type Took } from './plain-lake.js';
import { CLI, median, readCpuSeconds, time } from './processes.js';

const { values } = parseArgs({
  options: {
    items: { type: 'string', default: '1000000' },
    changes: { type: 'string', default: '5000000' },
    times: { type: 'string', default: '9' },
    plain: { type: 'string', default: '1' },
    lake: { type: 'string' },
    analyses: { type: 'boolean', default: false },
  },
});

const DAYS = 90;
const OWN_PRICES = 200;
const WORK = path.join(tmpdir(), 'pricelake-bench-explore');
const times = Number(values.times);

const exists = (file: string) =>
  access(file).then(
    () => true,
    () => false,
  );

/** Finds or makes the lake. A lake that is still being made has a different folder name. */
async function findLake(): Promise<string> {
  if (values.lake !== undefined) return path.resolve(values.lake);
  const folder = path.join(WORK, `${values.items}-${values.changes}`);
  if (!(await exists(folder))) {
    const made = `${folder}-making`;
    await rm(made, { recursive: true, force: true });
    const seconds = await makeMovedLake({
      folder: made,
      items: Number(values.items),
      changes: Number(values.changes),
      days: DAYS,
    });
    await rename(made, folder);
    const parts = Object.entries(seconds).map(([part, took]) => `${part} ${took.toFixed(1)} s`);
    console.log(`The lake is made: ${parts.join(', ')}; load ${showLoad()}.\n`);
  }
  return path.join(folder, 'lake');
}

const showLoad = () => (loadavg()[0] as number).toFixed(1);

interface Server {
  pid: number;
  get(address: string): Promise<{ ms: number; text: string }>;
  /** Returns the peak resident memory in MB; undefined if the system doesn't report it. */
  readPeak(): Promise<number | undefined>;
  stop(): Promise<void>;
}

async function startServer(lake: string, list: string): Promise<Server> {
  const child = spawn(process.execPath, [CLI, 'explore', '--lake', lake, '--list', list, '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { origin, searchParams } = new URL((JSON.parse(line) as { url: string }).url);
  const headers = { cookie: `pricelake-token=${searchParams.get('token')}` };
  const pid = child.pid as number;
  return {
    pid,
    async get(address) {
      const [seconds, text] = await time(async () => {
        const answer = await fetch(`${origin}${address}`, { headers });
        const page = await answer.text();
        if (!answer.ok) throw new Error(`${address} gave ${answer.status}:\n${page}`);
        return page;
      });
      return { ms: 1000 * seconds, text };
    },
    async readPeak() {
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
      const kilobytes = /VmHWM:\s+(\d+) kB/u.exec(status)?.[1];
      return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
    },
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

/** True if the page is complete. A page whose rows are still being prepared tells the browser to reload it. */
const isWhole = (text: string) => !text.includes('http-equiv="refresh"');

const REST_MS = 3000;

/** Waits until a process is idle, because it prepares rows while it serves pages. */
async function untilAtRest(pid: number): Promise<void> {
  let before = Number.NEGATIVE_INFINITY;
  for (;;) {
    const now = (await readCpuSeconds(pid)) ?? before;
    if (now - before < 0.05) return;
    before = now;
    await sleep(REST_MS);
  }
}

/** Reads the questions behind a page's tables from the links to their analyses, one question per kind of table. */
function readQuestions(text: string): PlainQuestion[] {
  const found = [...text.matchAll(/href="(\/analyses\/[^"#]+)#sql"/gu)].map(([, address]) => {
    const { pathname, searchParams } = new URL(String(address).replaceAll('&amp;', '&'), 'http://localhost');
    searchParams.delete('kind');
    return { analysis: path.basename(pathname), set: Object.fromEntries(searchParams) };
  });
  return [...new Map(found.map((question) => [JSON.stringify(question), question])).values()];
}

async function reportPage(server: Server, plain: PlainLake, kind: PageKind): Promise<void> {
  const { name, target, paths, isPlain = true } = kind;
  const [cold, ...warm] = paths;
  const first = await server.get(cold as string);
  const waits: number[] = [];
  const floors: Took[] = [];
  let cpuSeconds = 0;
  for (const address of warm) {
    const before = await readCpuSeconds(server.pid);
    const { ms, text } = await server.get(address);
    cpuSeconds += ((await readCpuSeconds(server.pid)) ?? Number.NaN) - (before ?? Number.NaN);
    waits.push(ms);
    if (isPlain && floors.length < Number(values.plain)) floors.push(await plain.time(readQuestions(text)));
  }
  const wait = median(waits);
  const cpu = (1000 * cpuSeconds) / warm.length;
  const plainCpu = median(floors.map(({ cpuMs }) => cpuMs));
  const ratio = cpu / plainCpu;
  const figures = [target, first.ms, wait, Math.max(...waits), cpu, median(floors.map(({ ms }) => ms)), plainCpu];
  const cells = figures.map((ms) => (Number.isNaN(ms) ? '' : Math.round(ms).toLocaleString('en')));
  const shown = Number.isNaN(ratio) ? '' : `**${ratio.toFixed(2)}**`;
  console.log(`| ${name}${wait > target ? ' \\*' : ''} | ${cells.join(' | ')} | ${shown} | ${showLoad()} |`);
}

await mkdir(WORK, { recursive: true });
const lake = await findLake();
const plain = await PlainLake.open(lake);
const list = path.join(WORK, `own-prices-${process.pid}.csv`);
await writeFile(list, await listOwnPrices(plain, OWN_PRICES));
const kinds = await listPages(plain, times);
const [start, server] = await time(() => startServer(lake, list));
try {
  let page = await server.get('/');
  console.log(`Started after ${start.toFixed(1)} s, the first page ${Math.round(page.ms)} ms later,`);
  const begin = performance.now();
  while (!isWhole(page.text)) {
    await sleep(250);
    page = await server.get('/');
  }
  const past = (performance.now() - begin) / 1000;
  await untilAtRest(server.pid);
  const all = (performance.now() - begin) / 1000;
  console.log(
    `the past after ${past.toFixed(1)} s more, all that is prepared after ${all.toFixed(1)} s. Load ${showLoad()}.\n`,
  );
  console.log(
    '| page | target ms | cold ms | warm ms | slowest ms | warm CPU ms | plain ms | plain CPU ms | ÷ plain CPU | load |',
  );
  console.log(`|${' --- |'.repeat(10)}`);
  for (const kind of kinds) await reportPage(server, plain, kind);
  if (values.analyses) {
    for (const kind of listAnalysisPages((await listProducts(plain, 1))[0] as string, 3))
      await reportPage(server, plain, kind);
  }
  console.log(`\nPeak memory: ${Math.round((await server.readPeak()) ?? Number.NaN)} MB.`);
} finally {
  await server.stop();
  await plain.close();
  await rm(list, { force: true });
}
