import { countOf, formatCount } from '../../formats/count.js';
import { explainBroken } from '../../plan/broken-exports.js';
import { nameDatasets } from '../../plan/find-added.js';
import { valueToText } from '../../sql/value-json.js';
import type { DatasetSelection } from '../../tables/table.js';
import { wrapText } from '../output/display-width.js';
import { layOutTable, right } from '../output/table-layout.js';
import { toPlainLine } from '../plain-text.js';
import { formatBytes, formatSeconds } from '../progress.js';
import { paint, type Style } from '../style.js';
import type { Rows, Status } from './read-status.js';

/** A status with the datasets of the lake; undefined if nothing is published. */
export type ShownStatus = Status & { datasets: DatasetSelection | undefined };

/** A status for people. */
export function formatStatus(status: ShownStatus, width: number | undefined): string {
  const lines = [
    formatPointer(status),
    formatListing(status),
    formatStale(status),
    formatLag(status),
    formatOpen(status),
    formatLock(status),
    formatBudget(status),
    formatSizes(status),
    formatWebhooks(status),
    ...status.brokenExports.map(explainBroken),
  ];
  const facts = lines.filter((line) => line !== '').map((line) => `${wrapText(toPlainLine(line), width, '  ')}\n`);
  const tables = formatTables(status.tables, width);
  const runs = status.runs.rows.length === 0 ? '' : `\nlast runs\n${formatRows(status.runs, width)}`;
  return facts.join('') + tables + runs + formatChecks(status.checks, width);
}

/** Colours what needs a person. */
export function colourStatus(text: string, style: Style): string {
  return paint(
    text,
    [/(?<=^run \S+ \(\S+\) is )(?:held by [\s\S]*?(?=,\s+landed )|interrupted)/gmu, style.bad],
    [/^not caught up(?=:)/gmu, style.warn],
    [/(?<= passed, )[1-9]\d* found something$/gmu, style.warn],
  );
}

function formatPointer({ lake, pointer, upToDateAt, idleRuns, datasets = 'all' }: ShownStatus): string {
  if (pointer === undefined) return `${lake}: nothing is published yet`;
  const { runNumber, runId, at, cursor, pipeline } = pointer;
  const runs = idleRuns === 1 ? 'one run' : `${idleRuns} runs`;
  const idle = idleRuns === 0 ? '' : `, up to date at ${upToDateAt?.toISOString()} (${runs} without news since)`;
  const selection = datasets === 'all' ? '' : ` (${nameDatasets(datasets)})`;
  return `${lake}: run ${runNumber} (${runId}) of ${pipeline}${selection}, published ${at.toISOString()}, cursor ${cursor}${idle}`;
}

function formatListing({ listing }: Status): string {
  if (listing === undefined) return '';
  const { run, unknown, reason } = listing;
  return `not caught up: run ${run} could not establish whether up to ${countOf(unknown, 'item')} are still listed (${reason})`;
}

function formatStale({ tables }: Status): string {
  const stale = tables.find(({ table }) => table === 'stale_items')?.rows ?? 0n;
  if (stale === 0n) return '';
  return `not caught up: ${countOf(stale, 'item')} may be out of date (table stale_items says why)`;
}

function formatLag({ lag }: Status): string {
  if (lag === undefined) return '';
  if (lag.newestChange === undefined) return 'feed: the service shows no change';
  const behind =
    lag.seconds === 0 ? 'the lake does not have it yet' : `the lake is ${formatSeconds(lag.seconds)} behind`;
  const state = lag.isBehind ? behind : 'the lake has it';
  return `feed: newest change ${lag.newestChange}, observed ${lag.newestAt?.toISOString()}; ${state}`;
}

function formatOpen({ open }: Status): string {
  if (open === undefined) return '';
  const { landed, checks, state } = open;
  const parts = [
    countOf(landed.exportRows, 'export row'),
    countOf(landed.changes, 'change'),
    countOf(landed.items, 'item'),
  ];
  const why = state === 'held' ? ` by ${checks.join(', ')}` : '';
  const next = {
    held: '; change checks: in the pipeline file and sync, or sync --publish-held',
    interrupted: '; the next sync continues it',
    running: '',
  }[state];
  return `run ${open.runNumber} (${open.runId}) is ${state}${why}, landed ${parts.join(', ')} in ${countOf(open.calls, 'call')}${next}`;
}

function formatLock({ lock }: Status): string {
  if (lock === undefined) return '';
  const { pid, host, since, beatAt, alive } = lock;
  const state = alive ? '' : '; the process is gone, and the next run takes over';
  return `lock: process ${pid} on ${host} since ${since}, last seen ${beatAt.toISOString()}${state}`;
}

function formatBudget({ budget }: Status): string {
  if (budget === undefined) return '';
  const { calls, exportRows, resetsAt, plan, seenAt } = budget;
  const resets = resetsAt === undefined ? '' : `, until ${resetsAt.toISOString()}`;
  const left = `${formatBound(calls)} calls, ${formatBound(exportRows)} export rows`;
  return `budget: ${left}${resets} (plan ${plan}, as of ${seenAt.toISOString()})`;
}

function formatBound(bound: NonNullable<Status['budget']>['calls']): string {
  return bound === undefined ? 'unlimited' : `${formatCount(bound.left)} of ${formatCount(bound.allowed)}`;
}

function formatSizes({ bytes }: Status): string {
  const superseded = bytes.superseded === 0 ? '' : `, superseded files ${formatBytes(bytes.superseded)}`;
  return `on disk: tables ${formatBytes(bytes.tables)}${superseded}, raw bytes ${formatBytes(bytes.landing)}`;
}

function formatWebhooks({ webhooks: { waiting, setAside } }: Status): string {
  if (waiting === 0 && setAside === 0) return '';
  const unread = setAside === 0 ? '' : ` · unreadable, in _pricelake/webhooks/aside: ${formatCount(setAside)}`;
  return `webhook events for the next sync: ${formatCount(waiting)}${unread}`;
}

function formatTables(tables: Status['tables'], width: number | undefined): string {
  if (tables.length === 0) return '';
  const rows = tables.map(({ table, version, rows: count, files, bytes }) => [
    table,
    String(version),
    formatCount(count),
    formatCount(files),
    formatBytes(bytes),
  ]);
  const columns = ['table', ...['version', 'rows', 'files', 'size'].map(right)];
  return `\n${layOutTable(columns, rows, width)}`;
}

/** Names checks that found something, and counts the others. */
function formatChecks({ names, rows }: Rows, width: number | undefined): string {
  if (rows.length === 0) return '';
  const failed = rows.filter((row) => row[names.indexOf('violations')] !== 0n);
  const summary = `\nchecks of the last run: ${rows.length - failed.length} passed, ${failed.length} found something\n`;
  return failed.length === 0 ? summary : summary + formatRows({ names, rows: failed }, width);
}

function formatRows({ names, rows }: Rows, width: number | undefined): string {
  const cells = rows.map((row) => row.map((value) => (value === null ? '' : toPlainLine(valueToText(value)))));
  const isNumber = (at: number) => ['bigint', 'number'].includes(typeof rows[0]?.[at]);
  const columns = names.map((name, at) => (isNumber(at) ? right(name) : name));
  return layOutTable(columns, cells, width);
}
