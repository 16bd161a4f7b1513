import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import path, { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { readPipeline } from '../../config/pipeline-file.js';
import { countOf, formatCount } from '../../formats/count.js';
import { PricelakeError } from '../../io/errors.js';
import { packagePath } from '../../io/package-path.js';
import { peekUnfinishedRun } from '../../journal/landings.js';
import { openLake } from '../../lake/lake.js';
import { readPointer } from '../../lake/pointer.js';
import { syncWithWings } from '../../wings/index.js';
import type { Arguments, CommandContext } from '../command.js';
import type { demo } from '../commands/sandbox.js';
import { wrapText } from '../output/display-width.js';
import { describeReport, formatReport } from '../run-report.js';
import { postAdvance } from './advance-sandbox.js';
import { runDemoChecks } from './run-check.js';
import { showSpread } from './show-spread.js';

const HOURS = 6;

export async function runDemo(request: Arguments<typeof demo>, context: CommandContext) {
  const { keep, items } = request;
  if (keep !== undefined) await mkdir(keep, { recursive: true });
  const lake = keep === undefined ? request.lake : join(keep, 'lake');
  await clearDemoLake(lake);
  const first = `1. A sandbox of the service with ${formatCount(items)} made-up listings starts on this machine. It includes mistakes that real shops make, for the checks in step 5 to find.`;
  await context.say(`${wrapText(first, context.output.columns)}\n`);
  // Starts `pricelake sandbox` in a separate process, on a free port.
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
  const { columns } = context.output;
  const program = nameOwnCommand(process.env);
  const env = { PRICELAKE_BASE_URL: baseUrl, PRICELAKE_API_KEY: keys.live };
  const pipeline = await readPipeline(packagePath('pipelines/demo.yaml'), env);
  pipeline.lake.path = lake;
  io.protectSecret(keys.live);
  const begin = (title: string) => say(`\n${wrapText(title, columns)}\n`);
  const sync = async (title: string) => {
    await begin(title);
    const report = await syncWithWings(pipeline, io, signal);
    io.close(); // each run draws its own progress bars
    await say(formatReport(report, lake, { style: context.style, program, isStep: true, columns }));
    return describeReport(report, lake);
  };
  const runs = [await sync('2. The first run copies everything.')];
  const {
    now: _now,
    changes,
    ...moved
  } = await postAdvance(new URL('/sandbox/advance', baseUrl), { hours: HOURS }, signal);
  const kinds = Object.entries(moved).map(([kind, count]) => `${count} ${kind}`);
  const pass = `3. ${HOURS} hours pass, with ${countOf(Number(changes), 'change')}: ${kinds.join(', ')}. The next run copies them.`;
  runs.push(await sync(pass));
  runs.push(await sync('4. Nothing has changed since, so the next run writes no files.'));
  const { checks, lines } = await runDemoChecks(lake, context);
  const word = quoteWord(lake);
  const found =
    lines.length === 0
      ? `All ${checks.length} pass.`
      : `${lines.length} of ${checks.length} find violations, which the sandbox planted.`;
  await begin(`5. The checks run on the copy. ${found}`);
  await say(`\n${lines.join('')}`);
  if (lines.length > 0) await say(`\n  ${program} check --lake ${word}   # shows the rows\n`);
  await begin('6. The widest price spreads, of products in four shops or more. Questionable prices are excluded.');
  await say('\n');
  const spread = { lake, minShops: 4, top: 10, grade: 'B', format: 'table' } as const;
  if (!context.json) await showSpread(spread, context);
  await begin('7. Pages show everything in a browser.');
  const pages = `  ${program} explore --lake ${word}   # until Ctrl-C\n`;
  if (keep === undefined) {
    await say(
      `${pages}  ${program} explore --lake ${word} --output report.html   # one HTML file to share\n${nextSteps(lake, program)}`,
    );
    return { runs, checks };
  }
  const { writeReport } = await import('./write-report.js');
  const { output: report } = await writeReport({ lake, output: join(keep, 'report.html'), top: 50 }, context);
  await say(`${pages}${nextSteps(lake, program)}`);
  return { runs, checks, lake, report };
}

function nextSteps(lakePath: string, program: string): string {
  const lake = quoteWord(lakePath);
  const shop =
    'SELECT name, count(*) AS cheapest FROM price_spread JOIN sites ON site_id = cheapest_site_id WHERE is_current GROUP BY ALL ORDER BY 2 DESC LIMIT 5';
  return `
Next:
  ${program} spread --lake ${lake} --currency EUR --min-shops 5
  ${program} query --lake ${lake} "${shop}"
  duckdb -c "SELECT currency, count(*), median(price) FROM read_parquet('${lakePath}/items/*.parquet') WHERE is_listed GROUP BY ALL"
  ${program} sandbox   # prints a key and a pipeline file
`;
}

/** Deletes the lake of an earlier demo. `openLake` rejects a folder that isn't a lake. */
async function clearDemoLake(path: string): Promise<void> {
  const lake = await openLake(path, { create: true });
  const owner = (await readPointer(lake))?.pipeline ?? (await peekUnfinishedRun(lake.root, 0n))?.state.begin.pipeline;
  if (owner !== undefined && owner !== 'demo') {
    throw new PricelakeError('usage', `${path} is the lake of the "${owner}" pipeline, not of a demo`, {
      hint: 'Choose another folder with --lake.',
    });
  }
  await rm(lake.root, { recursive: true });
}

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
  const { base_url: baseUrl, keys } = JSON.parse(line) as { base_url: string; keys: SandboxAddress['keys'] };
  return { baseUrl, keys };
}

/**
 * Returns the command that starts this program from the current folder. This is `pricelake` if the program is on the
 * PATH, and otherwise `node` with the path of the program. Folders that npm has added to the PATH don't count, because
 * they are no longer on the PATH when the npm script ends.
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
