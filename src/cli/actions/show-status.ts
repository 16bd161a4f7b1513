import { PricelakeError } from '../../io/errors.js';
import type { Io } from '../../io/io.js';
import { readTable } from '../../lake/read.js';
import type { Budget } from '../../plan/allowance.js';
import { readLakeSelection } from '../../run/open/dataset-selection.js';
import { askService } from '../../run/open/service-state.js';
import { TABLE_NAMES, type TableName } from '../../tables/table.js';
import type { Arguments, CommandContext } from '../command.js';
import type { status } from '../commands/keep.js';
import { seekPipeline } from '../find-pipeline.js';
import { chooseRemote, findTarget, openPipeline } from '../find-target.js';
import { toReportRows } from '../output/report-rows.js';
import { type ReadOptions, readLake } from '../read-lake.js';
import { colorStatus, formatStatus } from './format-status.js';
import { readStatus, type Status } from './read-status.js';

/**
 * The tables that `status` reads. The tables in `DATED` are also read to measure how far the lake is behind the feed.
 */
const SHOWN: readonly TableName[] = ['runs', 'check_results'];
const DATED: readonly TableName[] = ['history', 'items'];
/** The budget that applies if no pipeline file sets one. */
export const DEFAULT_BUDGET: Budget = { calls: { percent: 90 }, exportRows: { percent: 90 }, overage: 0 };

/**
 * Shows the contents of a lake, pending work, and the quota that is left this month. With a pipeline file or `online`,
 * makes two calls, plus one for each dataset after the first.
 */
export async function showStatus(request: Arguments<typeof status>, context: CommandContext) {
  const { io, signal, json, output, style } = context;
  const { path, budget, service } = await chooseSource(request, context);
  const remote = chooseRemote(request, io);
  const tables = () => (remote === undefined ? TABLE_NAMES : service === undefined ? SHOWN : [...SHOWN, ...DATED]);
  const found = await gatherStatus({ path, remote, tables, signal }, budget, io, service);
  if (!json) await output.write(colorStatus(formatStatus(found, output.columns), style));
  return describeStatus(found);
}

type Service = Parameters<typeof askService>[0];

/** Reads the status. Calls the service only if `service` is given. */
export function gatherStatus(options: ReadOptions, budget: Budget, io: Io, service?: Service): Promise<Status> {
  return readLake(options, async (opened) => {
    const datasets = readLakeSelection(await readTable(opened.lake, 'items'));
    const asked = service === undefined ? undefined : await askService(service, datasets ?? 'all', io, options.signal);
    return { ...(await readStatus(opened, asked, budget, io)), datasets };
  });
}

async function chooseSource({ pipeline, lake, online = false }: Arguments<typeof status>, context: CommandContext) {
  const file = lake === undefined ? await seekPipeline(pipeline, process.env) : pipeline;
  if (file !== undefined && (online || pipeline !== undefined)) {
    const { source, lake: own, budget } = await openPipeline({ pipeline: file, lake }, context);
    return { path: own.path, budget, service: { baseUrl: source.baseUrl, apiKey: source.apiKey } };
  }
  const { lake: path, settings } = await findTarget({ pipeline: file, lake });
  if (!online) return { path, budget: settings?.budget ?? DEFAULT_BUDGET, service: undefined };
  const { PRICELAKE_BASE_URL: baseUrl = '', PRICELAKE_API_KEY: apiKey = '' } = process.env;
  if (baseUrl === '' || apiKey === '') {
    throw new PricelakeError('usage', '--online needs PRICELAKE_BASE_URL and PRICELAKE_API_KEY, or a pipeline file');
  }
  return { path, budget: DEFAULT_BUDGET, service: { baseUrl, apiKey } };
}

/** Returns the status in the form that `--json` prints. */
export function describeStatus({ pointer, runs, checks, ...status }: Status) {
  const { runId, runNumber, cursor, at, pipeline } = pointer ?? {};
  const published = { published: pointer !== undefined, pipeline, runId, runNumber, cursor, at };
  return { ...status, ...published, runs: toReportRows(runs), checks: toReportRows(checks) };
}
