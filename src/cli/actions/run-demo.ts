import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readPipeline } from '../../config/pipeline-file.js';
import { PricelakeError } from '../../errors/errors.js';
import { formatCount } from '../../formats/count.js';
import { packagePath } from '../../io/package-path.js';
import { peekUnfinishedRun } from '../../journal/landings.js';
import { openLake } from '../../lake/lake.js';
import { readPointer } from '../../lake/pointer.js';
import { syncPipeline } from '../../sync/sync.js';
import { nameOwnCommand, quoteWord } from '../own-command.js';
import type { CommandContext, CommandReport } from '../run-command.js';
import { describeReport, formatReport } from '../run-report.js';
import { type SandboxProcess, startSandboxProcess } from '../sandbox-process.js';
import { runCheckCommand } from './run-check.js';
import { showSpread } from './show-spread.js';

export interface DemoRequest {
  lake: string;
  /** Folder for the lake, instead of `lake`, and a report. */
  keep?: string | undefined;
  items: number;
}

const HOURS = 6;

/** All steps on the embedded sandbox: first copy, some hours of changes, sync, nothing new, checks, spread. */
export async function runDemo(request: DemoRequest, context: CommandContext): Promise<CommandReport> {
  if (!Number.isInteger(request.items) || request.items < 1) {
    throw new PricelakeError('usage', `--items ${request.items} is not a whole number above 0`);
  }
  const { keep } = request;
  if (keep !== undefined) await mkdir(keep, { recursive: true });
  const place = keep === undefined ? request : { ...request, lake: join(keep, 'lake') };
  await clearDemoLake(place.lake);
  const { say } = context;
  await say(`1. A sandbox of the service with ${formatCount(request.items)} listings starts on this machine.\n`);
  const sandbox = await startSandboxProcess(request.items, context.signal);
  try {
    return await runSteps(place, context, sandbox, say);
  } finally {
    await sandbox.stop();
  }
}

type Say = CommandContext['say'];

async function runSteps(
  { lake, keep }: DemoRequest,
  context: CommandContext,
  sandbox: SandboxProcess,
  say: Say,
): Promise<CommandReport> {
  const { io, signal } = context;
  const env = { PRICELAKE_BASE_URL: sandbox.baseUrl, PRICELAKE_API_KEY: sandbox.apiKey };
  const pipeline = await readPipeline(packagePath('pipelines/demo.yaml'), env);
  pipeline.lake.path = lake;
  io.protectSecret(sandbox.apiKey);
  const sync = async (title: string) => {
    await say(`\n${title}\n`);
    const report = await syncPipeline(pipeline, io, signal);
    io.close(); // each run has bars of its own
    await say(formatReport(report, lake, context.style, nameOwnCommand(process.env)));
    return describeReport(report, lake);
  };
  const runs = [await sync('2. The first run copies everything.')];
  const { now: _now, ...moved } = await sandbox.advance(HOURS);
  const kinds = Object.entries(moved).map(([kind, count]) => `${kind} ${count}`);
  runs.push(await sync(`3. ${HOURS} hours pass (${kinds.join(', ')}). The next run copies the changes.`));
  runs.push(await sync('4. Nothing has changed since, so the next run writes no file.'));
  await say('\n5. The checks run over the copy.\n');
  const checks = await runCheckCommand({ lake, failOn: 'gate' }, context);
  await say('\n6. The widest price spreads, without doubtful prices.\n');
  const spread = { lake, minShops: 4, top: 10, outliers: false, format: 'table' } as const;
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

/** Only a lake that an earlier demo made is removed; a foreign folder is refused by openLake. */
async function clearDemoLake(path: string): Promise<void> {
  const lake = await openLake(path, { create: true });
  const owner = (await readPointer(lake))?.pipeline ?? (await readUnfinishedPipeline(lake.root));
  if (owner !== undefined && owner !== 'demo') {
    throw new PricelakeError('usage', `${path} is the lake of pipeline "${owner}", not of a demo`, {
      hint: 'Name another folder with --lake.',
    });
  }
  await rm(lake.root, { recursive: true });
}

async function readUnfinishedPipeline(lakeRoot: string): Promise<string | undefined> {
  const landing = await peekUnfinishedRun(lakeRoot, 0n);
  return landing?.state.begin.pipeline;
}
