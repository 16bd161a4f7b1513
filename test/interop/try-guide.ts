import { execFileSync, spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { openWorld } from '../run/world.js';
import { MAIN } from '../workers/cluster.js';

/**
 * Runs the commands of docs/engineer/scale.md as they stand there, on Spark's own cluster on this machine; then asks on the
 * cluster and here, and compares the rows: `try-guide.ts <version> <folder with spark-submit> [options of spark-submit]`.
 */
const [version = '', bin = '', ...options] = process.argv.slice(2);
const PAGE = await readFile('docs/engineer/scale.md', 'utf8');
const QUESTIONS = [
  ['--analysis', 'movers', '--set', 'since_run=0'],
  ['--analysis', 'spread_by_day', '--set', 'currency=EUR'],
  ['--analysis', 'spread_summary', '--as-of', '1'],
];
/** Longer than all commands take on two cores. */
const LIMIT_MS = 1_800_000;
const failures: string[] = [];

/** The first block of a language behind a heading. */
function readBlock(heading: string, language: string): string {
  const [, section = ''] = PAGE.split(`## ${heading}\n`);
  const [, text] = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'u').exec(section) ?? [];
  if (text === undefined) throw new Error(`no ${language} in "${heading}"`);
  return text;
}

function check(name: string, ok: boolean, detail = ''): void {
  process.stdout.write(`${ok ? 'ok    ' : 'FAILED'} ${name}${ok ? '' : `: ${detail}`}\n`);
  if (!ok) failures.push(name);
}

function note(what: string, result: string): void {
  const { RESULTS } = process.env;
  if (RESULTS !== undefined) appendFileSync(RESULTS, `${JSON.stringify({ tool: 'Spark', version, what, result })}\n`);
}

const world = await openWorld({ items: 400, sites: 5, pastDays: 4 });
const folder = join(world.folder, 'guide');
const { baseUrl, keys } = world.sandbox;
await mkdir(join(folder, 'bin'), { recursive: true });
const command = join(folder, 'bin', 'pricelake');
await writeFile(command, `#!/bin/sh\nexec ${process.execPath} ${MAIN} "$@"\n`, { mode: 0o755 });
const { engine } = parse(readBlock('From one machine to a cluster', 'yaml'));
engine.spark.submit.push(...options);
engine.spark.leastRows = 0;
// biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the file
const source = { baseUrl, apiKey: '${GUIDE_KEY}' };
await writeFile(join(folder, 'prices.yaml'), stringify({ source, lake: { path: join(folder, 'lake') }, engine }));
const env = { ...process.env, GUIDE_KEY: keys.live, PATH: `${join(folder, 'bin')}:${bin}:${process.env.PATH}` };

const script = readBlock('From one machine to a cluster', 'sh');
const commands = script.trim().split('\n');
check('there are ten commands', commands.length === 10, script);
// A group of its own, with the master and the worker that it leaves.
const shell = spawn('sh', ['-ex', '-c', script], {
  cwd: folder,
  env,
  detached: true,
  stdio: ['ignore', 'inherit', 'inherit'],
  timeout: LIMIT_MS,
});

const ask = (args: string[]) =>
  execFileSync(command, ['query', ...args, '--format', 'csv'], {
    cwd: folder,
    env,
    encoding: 'utf8',
    maxBuffer: 1e9,
    timeout: LIMIT_MS,
  });

async function tryGuide(): Promise<void> {
  const code = await new Promise<number | null>((ended) => shell.once('exit', ended));
  check('the commands of the guide', code === 0, `exit code ${code}`);
  note(
    'the ten commands of the guide, on its own cluster of one worker',
    code === 0 ? 'all ended with 0' : '**failed**',
  );
  let rows = 0;
  for (const args of code === 0 ? QUESTIONS : []) {
    const here = ask(args);
    const there = ask([...args, '--engine', 'spark']);
    rows += here.split('\n').length - 2;
    check(
      `query ${args.join(' ')}: ${here.length} characters`,
      here === there,
      `\n${here.slice(0, 500)}\n${there.slice(0, 500)}`,
    );
  }
  const what = '`query --engine spark` of `movers`, `spread_by_day` and, as of a run, `spread_summary`';
  note(what, failures.length === 0 ? `${rows} rows, the same CSV as without it` : `**${failures[0]}**`);
}

try {
  await tryGuide();
} finally {
  try {
    if (shell.pid !== undefined) process.kill(-shell.pid, 'SIGTERM');
  } catch {
    // The group has ended.
  }
  await world.close();
}
process.stdout.write(failures.length === 0 ? 'all passed\n' : `${failures.length} failed\n`);
process.exitCode = failures.length === 0 ? 0 : 1;
