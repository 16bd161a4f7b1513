/**
 * npm run soak [-- --runs 300 --items 20000 --changes 150 --large-files]
 * Makes many small runs in a row. Exits with 1 if time, memory, files, bytes written or log entries grow. Logs keep a
 * hundred versions, so the first 110 runs (or half of fewer than 220) are warm-up. The medians of the first and the
 * last third of the other runs are compared.
 */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { median, startSandbox, sync } from './processes.js';
import { countWritten, listFiles } from './written.js';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '300' },
    items: { type: 'string', default: '20000' },
    changes: { type: 'string', default: '150' },
    // Stores items in one file instead of one per website, so that each run rewrites this file.
    'large-files': { type: 'boolean', default: false },
  },
});

const WORK = fileURLToPath(new URL('./.work-soak', import.meta.url));
const LAKE = path.join(WORK, 'lake');
const RUNS = Number(values.runs);
const WARM_UP = Math.min(110, Math.floor(RUNS / 2));

/** The measurements of each run, and the factor by which their medians may grow. */
const MEASURES = [
  // On a shared machine, elapsed seconds vary more from hour to hour than CPU seconds.
  { name: 'seconds', growth: 1.5 },
  { name: 'cpuSeconds', growth: 1.25 },
  { name: 'peakMb', growth: 1.15 },
  { name: 'files', growth: 1.5 },
  { name: 'logEntries', growth: 1.25 },
  { name: 'writtenMb', growth: 1.25 },
] as const;
type Sample = Record<(typeof MEASURES)[number]['name'], number>;

async function countFiles() {
  const names = await readdir(LAKE, { recursive: true });
  return {
    files: names.filter((name) => name.endsWith('.parquet') && !name.includes('_delta_log')).length,
    logEntries: names.filter((name) => name.includes('_delta_log')).length,
  };
}

const show = (value: number) => (value < 100 ? value.toFixed(1) : String(Math.round(value)));

/** Describes each measurement that grew, in a sentence. */
function findGrowth(samples: readonly Sample[]): string[] {
  const kept = samples.slice(WARM_UP);
  const third = Math.max(1, Math.floor(kept.length / 3));
  return MEASURES.flatMap(({ name, growth }) => {
    const first = median(kept.slice(0, third).map((sample) => sample[name]));
    const last = median(kept.slice(-third).map((sample) => sample[name]));
    console.log(`| ${name} | ${show(first)} | ${show(last)} | ${(last / first).toFixed(2)} | ${growth} |`);
    return last > first * growth ? [`${name} grew from ${show(first)} to ${show(last)}`] : [];
  });
}

await rm(WORK, { recursive: true, force: true });
await mkdir(WORK, { recursive: true });
const pipeline = path.join(WORK, 'soak.yaml');
await writeFile(
  pipeline,
  `name: soak
source: { baseUrl: "\${PRICELAKE_BASE_URL}", apiKey: "\${PRICELAKE_API_KEY}", history: none }
lake: { path: ${LAKE}${values['large-files'] ? ', tables: { items: { partitionBy: [] } }' : ''} }
landing: { keep: 0 }
`,
);
const sandbox = await startSandbox(Number(values.items));
const samples: Sample[] = [];
try {
  await sync(sandbox, pipeline);
  for (let run = 1; run <= RUNS; run++) {
    await sandbox.advance(Number(values.changes), 0.25);
    const before = await listFiles(LAKE);
    const { seconds, cpuSeconds, peakBytes } = await sync(sandbox, pipeline);
    const writtenMb = (await countWritten(LAKE, before)).bytes / 1e6;
    samples.push({ seconds, cpuSeconds, peakMb: peakBytes / 2 ** 20, writtenMb, ...(await countFiles()) });
    if (run % 25 === 0) {
      const last = samples.at(-1) as Sample;
      console.error(`run ${run}: ${MEASURES.map(({ name }) => `${name} ${show(last[name])}`).join(', ')}`);
    }
  }
  console.log('| | first third | last third | ratio | allowed |\n| --- | --- | --- | --- | --- |');
  const growth = findGrowth(samples);
  for (const sentence of growth) console.error(sentence);
  if (growth.length > 0) process.exitCode = 1;
} finally {
  await sandbox.stop();
  await rm(WORK, { recursive: true, force: true });
}
