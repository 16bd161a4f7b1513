/**
 * npm run bench:sandbox [-- --items 1000000 --repeat 3]
 * Measures the sandbox's speed with clients in other processes. Reports the best of several measurements, because other
 * load on a shared machine can only slow it down. Prints Markdown.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type BenchSandbox, readOutput, startSandbox, time } from './processes.js';

const { values } = parseArgs({
  options: { items: { type: 'string', default: '1000000' }, repeat: { type: 'string', default: '3' } },
});
const items = Number(values.items);
const repeat = Number(values.repeat);
const PAGES = 400;

/** Returns the speed of an export in megabytes (10^6 bytes) per second. curl discards the data. */
async function downloadExport({ baseUrl, key }: BenchSandbox, format: string): Promise<number> {
  const url = `${baseUrl}/api/v1/export?status=all&format=${format}`;
  const head = ['-sSf', '-o', '/dev/null', '-w', '%{size_download} %{time_total}'];
  const text = await readOutput('curl', [...head, '-H', `Authorization: Bearer ${key}`, url]);
  const [bytes = 0, seconds = 1] = text.split(' ').map(Number);
  return bytes / 1e6 / seconds;
}

/** Returns the requests per second of a client in a separate process. */
async function askPages({ baseUrl, key }: BenchSandbox, what: string): Promise<number> {
  const script = fileURLToPath(new URL('./ask-pages.mjs', import.meta.url));
  return Number(await readOutput(process.execPath, [script, baseUrl, key, what, String(PAGES)]));
}

/** Returns a process's current and peak resident memory in MB. Works only on Linux. */
async function readMemory(pid: number): Promise<{ now: number; peak: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const megabytes = (name: string) =>
    Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1] ?? Number.NaN) / 1024;
  return { now: megabytes('VmRSS'), peak: megabytes('VmHWM') };
}

const forgetPeak = (pid: number) => writeFile(`/proc/${pid}/clear_refs`, '5').catch(() => {});

function report(what: string, unit: string, figures: number[], isBest: (...all: number[]) => number): void {
  const round = (figure: number) => (figure < 100 ? figure.toFixed(1) : Math.round(figure).toLocaleString('en'));
  console.log(`| ${what} | **${round(isBest(...figures))} ${unit}** | ${figures.map(round).join(' · ')} |`);
}

async function repeated(times: number, work: () => Promise<number>): Promise<number[]> {
  const figures: number[] = [];
  for (let k = 0; k < times; k++) figures.push(await work());
  return figures;
}

console.log(`${items.toLocaleString('en')} listings\n\n| | best | all |\n| --- | --- | --- |`);
let sandbox: BenchSandbox | undefined;
const cpu: number[] = [];
const starts = await repeated(repeat, async () => {
  await sandbox?.stop();
  const [seconds, started] = await time(() => startSandbox(items));
  sandbox = started;
  cpu.push((await started.readCpuSeconds()) ?? Number.NaN);
  return seconds;
});
const running = sandbox as BenchSandbox;
report('start, the world generated', 's', starts, Math.min);
report('its CPU seconds', 's', cpu, Math.min);
const generated = await readMemory(running.pid);
for (const format of ['ndjson', 'csv']) {
  await downloadExport(running, format); // rows that nobody asked for before are rendered now
  await forgetPeak(running.pid);
  const before = await readMemory(running.pid);
  report(`export, ${format}`, 'MB/s', await repeated(3 * repeat, () => downloadExport(running, format)), Math.max);
  const during = await readMemory(running.pid);
  report(`its peak memory above that before it`, 'MB', [during.peak - before.now], Math.min);
}
report(
  '/changes, 1,000 a page, one after the other',
  'a second',
  await repeated(3 * repeat, () => askPages(running, 'changes')),
  Math.max,
);
report(
  '/items, 500 a page, four at a time',
  'a second',
  await repeated(3 * repeat, () => askPages(running, 'items')),
  Math.max,
);
const changes = Math.round(items * 0.3);
report(
  `${changes.toLocaleString('en')} changes made`,
  's',
  [(await time(() => running.advance(changes)))[0]],
  Math.min,
);
report('peak memory: generation', 'MB', [generated.peak], Math.min);
report('peak memory: all after it', 'MB', [(await readMemory(running.pid)).peak], Math.min);
await running.stop();
