import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import path, { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { readPipeline } from '../../config/pipeline-file.js';
import { formatCount } from '../../formats/count.js';
import { PricelakeError } from '../../io/errors.js';
import { packagePath } from '../../io/package-path.js';
import { peekUnfinishedRun } from '../../journal/landings.js';
import { openLake } from '../../lake/lake.js';
import { readPointer } from '../../lake/pointer.js';
import { syncPipeline } from '../../run/sync.js';
import type { Arguments, CommandContext } from '../command.js';
import type { demo } from '../commands/sandbox.js';
import { describeReport, formatReport } from '../run-report.js';
import { postAdvance } from './advance-sandbox.js';
import { runCheckCommand } from './run-check.js';
import { showSpread } from './show-spread.js';

const HOURS = 6;

export async function runDemo(request: Arguments<typeof demo>, context: CommandContext) {
  const { keep, items } = request;
  if (keep !== undefined) await mkdir(keep, { recursive: true });
  const lake = keep === undefined ? request.lake : join(keep, 'lake');
  await clearDemoLake(lake);
  await context.say(`1. A sandbox of the service with ${formatCount(items)} listings starts on this machine.\n`);
  // `pricelake sandbox` in a process of its own, on a free port.
  const args = ['sandbox', '--port', '0', '--items', String(items), '--rate', '0', '--json'];
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1] ?? '', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    return await runSteps({ ...request, lake }, context, await readAddress(child, context.signal));
  } finally {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
  }
}

async function runSteps(
  { lake, keep }: Arguments<typeof demo>,
  context: CommandContext,
  { baseUrl, keys }: SandboxAddress,
) {
  const { io, signal, say } = context;
  const env = { PRICELAKE_BASE_URL: baseUrl, PRICELAKE_API_KEY: keys.live };
  const pipeline = await readPipeline(packagePath('pipelines/demo.yaml'), env);
  pipeline.lake.path = lake;
  io.protectSecret(keys.live);
  const sync = async (title: string) => {
    await say(`\n${title}\n`);
    const report = await syncPipeline(pipeline, io, signal);
    io.close(); // each run has bars of its own
    await say(formatReport(report, lake, context.style, nameOwnCommand(process.env)));
    return describeReport(report, lake);
  };
  const runs = [await sync('2. The first run copies everything.')];
  const { now: _now, ...moved } = await postAdvance(new URL('/sandbox/advance', baseUrl), { hours: HOURS }, signal);
  const kinds = Object.entries(moved).map(([kind, count]) => `${kind} ${count}`);
  runs.push(await sync(`3. ${HOURS} hours pass (${kinds.join(', ')}). The next run copies the changes.`));
  runs.push(await sync('4. Nothing has changed since, so the next run writes no files.'));
  await say('\n5. The checks run over the copy.\n');
  const checks = await runCheckCommand({ lake, failOn: 'gate' }, context);
  await say('\n6. The widest price spreads, without questionable prices.\n');
  const spread = { lake, minShops: 4, top: 10, outliers: false, grade: 'B', format: 'table' } as const;
  if (!context.json) await showSpread(spread, context);
  if (keep === undefined) {
    await say(nextSteps(lake));
    return { runs, ...checks };
  }
  await say('\n7. One HTML page shows everything.\n');
  const { writeReport } = await import('./write-report.js');
  const { output: report } = await writeReport({ lake, output: join(keep, 'report.html'), top: 50 }, context);
  await say(nextSteps(lake));
  return { runs, ...checks, lake, report };
}

function nextSteps(lakePath: string): string {
  const program = nameOwnCommand(process.env);
  const lake = quoteWord(lakePath);
  const shop =
    'SELECT name, count(*) AS cheapest FROM price_spread JOIN sites ON site_id = cheapest_site_id WHERE is_current GROUP BY ALL ORDER BY 2 DESC LIMIT 5';
  return `
Next:
  ${program} spread --lake ${lake} --currency EUR --min-shops 5
  ${program} report --lake ${lake}   # one HTML page about everything
  ${program} query --lake ${lake} "${shop}"
  duckdb -c "SELECT currency, count(*), median(price) FROM read_parquet('${lakePath}/items/*.parquet') GROUP BY ALL"
  ${program} sandbox   # prints a key and a pipeline file to start with
`;
}

/** Removes only a lake of an earlier demo. `openLake` refuses a foreign folder. */
async function clearDemoLake(path: string): Promise<void> {
  const lake = await openLake(path, { create: true });
  const owner = (await readPointer(lake))?.pipeline ?? (await peekUnfinishedRun(lake.root, 0n))?.state.begin.pipeline;
  if (owner !== undefined && owner !== 'demo') {
    throw new PricelakeError('usage', `${path} is the lake of pipeline "${owner}", not of a demo`, {
      hint: 'Choose another folder with --lake.',
    });
  }
  await rm(lake.root, { recursive: true });
}

/** The line that the sandbox prints once it listens. */
interface SandboxAddress {
  baseUrl: string;
  keys: { live: string };
}

async function readAddress(child: ChildProcessByStdio<null, Readable, null>, signal: AbortSignal) {
  const line = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line', { signal }).then(([text]) => String(text)),
    once(child, 'exit').then(() => undefined),
  ]);
  if (line === undefined) throw new PricelakeError('unavailable', "the sandbox didn't start; see the reason above");
  return JSON.parse(line) as SandboxAddress;
}

/**
 * Words that start this program again from this folder: `pricelake` only if that name leads to it. Folders that npm puts
 * on the path don't count, because they are gone when its script ends.
 */
function nameOwnCommand(env: NodeJS.ProcessEnv): string {
  const entry = process.argv[1] ?? '';
  const main = resolveLink(entry) ?? entry;
  const folders = (env.PATH ?? '').split(path.delimiter).filter((folder) => !/\bnode_modules\b/u.test(folder));
  const first = folders.map((folder) => resolveLink(path.join(folder, 'pricelake'))).find((file) => file !== undefined);
  if (first === main) return 'pricelake';
  const fromHere = path.relative('', main);
  return `node ${quoteWord(fromHere.startsWith('..') ? main : fromHere)}`;
}

function resolveLink(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}

function quoteWord(word: string): string {
  return /^[\w./-]+$/u.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
