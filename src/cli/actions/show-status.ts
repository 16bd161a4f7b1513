import { seekPipeline } from '../../config/find-pipeline.js';
import { readPipeline, readReadingSettings } from '../../config/pipeline-file.js';
import { PricelakeError } from '../../io/errors.js';
import { readTable } from '../../lake/read.js';
import type { Budget } from '../../plan/allowance.js';
import { readLakeSelection } from '../../run/open/dataset-selection.js';
import { askService } from '../../source/ask-service.js';
import { rowToJson } from '../../sql/value-json.js';
import { TABLE_NAMES, type TableName } from '../../tables/table.js';
import type { Arguments, CommandContext, CommandReport } from '../command.js';
import type { status } from '../commands/keep.js';
import { chooseRemote } from '../find-target.js';
import { RawJson } from '../json-text.js';
import { readLake } from '../read-lake.js';
import { colourStatus, formatStatus, type ShownStatus } from './format-status.js';
import { type Rows, readStatus } from './read-status.js';

/** Tables that a status reads; the lag behind the feed takes more of them. */
const SHOWN: readonly TableName[] = ['runs', 'check_results'];
const DATED: readonly TableName[] = ['history', 'items'];
/** The default of a pipeline file. */
const DEFAULT_BUDGET: Budget = { calls: { percent: 90 }, exportRows: { percent: 90 }, overage: 0 };

/**
 * Shows what a lake holds, what waits, and what is left of the month. If a pipeline file is named or `online` is given, it
 * makes two calls, and another one for each further dataset.
 */
export async function showStatus(request: Arguments<typeof status>, context: CommandContext) {
  const { io, signal, json, output, style } = context;
  const { path, budget, service } = await chooseSource(request, context);
  const remote = chooseRemote(request, io);
  const tables = () => (remote === undefined ? TABLE_NAMES : service === undefined ? SHOWN : [...SHOWN, ...DATED]);
  return readLake({ path, remote, tables, signal }, async ({ lake, db, remote: fetched }) => {
    const selection = readLakeSelection(await readTable(lake, 'items'));
    const asked = service === undefined ? undefined : await askService(service, selection ?? 'all', io, signal);
    const status = { ...(await readStatus(lake, db, asked, budget, io, fetched)), datasets: selection };
    if (!json) await output.write(colourStatus(formatStatus(status, output.columns), style));
    return describeStatus(status);
  });
}

async function chooseSource(
  { pipeline: named, lake, online = false }: Arguments<typeof status>,
  { io }: CommandContext,
) {
  const file = named !== undefined || lake === undefined ? await seekPipeline(named, process.env) : undefined;
  if (file !== undefined && (online || named !== undefined)) {
    const { source, lake: own, budget } = await readPipeline(file, process.env);
    io.protectSecret(source.apiKey);
    return { path: lake ?? own.path, budget, service: { baseUrl: source.baseUrl, apiKey: source.apiKey } };
  }
  const found = file === undefined ? undefined : await readReadingSettings(file, process.env);
  const path = lake ?? found?.lake.path ?? './lake';
  if (!online) return { path, budget: found?.budget ?? DEFAULT_BUDGET, service: undefined };
  const { PRICELAKE_BASE_URL: baseUrl = '', PRICELAKE_API_KEY: apiKey = '' } = process.env;
  if (baseUrl === '' || apiKey === '') {
    throw new PricelakeError('usage', '--online needs PRICELAKE_BASE_URL and PRICELAKE_API_KEY, or a pipeline file');
  }
  return { path, budget: DEFAULT_BUDGET, service: { baseUrl, apiKey } };
}

/** For machines. */
function describeStatus({ pointer, runs, checks, ...status }: ShownStatus): CommandReport {
  const { runId, runNumber, cursor, at, pipeline } = pointer ?? {};
  return {
    ...status,
    published: pointer !== undefined,
    pipeline,
    runId,
    runNumber,
    cursor,
    at,
    runs: toJsonRows(runs),
    checks: toJsonRows(checks),
  };
}

function toJsonRows({ names, rows }: Rows): RawJson[] {
  return rows.map((row) => new RawJson(rowToJson(names, row)));
}
