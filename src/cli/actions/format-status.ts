import { formatBytes } from '../../formats/bytes.js';
import { countOf, formatCount } from '../../formats/count.js';
import { RUN_STEPS } from '../../io/io.js';
import type { RunTry } from '../../journal/tries.js';
import { explainBroken } from '../../plan/broken-exports.js';
import { nameDatasets } from '../../plan/find-added.js';
import { wrapText } from '../output/display-width.js';
import { formatCell } from '../output/table.js';
import { layOutTable, right } from '../output/table-layout.js';
import { toPlainLine } from '../plain-text.js';
import { formatSeconds } from '../progress.js';
import { paint, type Style } from '../style.js';
import type { Rows, Status } from './read-status.js';

export function formatStatus(status: Status, width: number | undefined): string {
  const { listing, lag, open, lock, budget, brokenExports, runs } = status;
  const lines = [
    formatPointer(status),
    listing &&
      `not caught up: run ${listing.run} couldn't tell whether up to ${countOf(listing.unknown, 'item')} are still listed (${listing.reason})`,
    formatStale(status),
    lag && formatLag(lag),
    open && formatOpen(open),
    lock && formatLock(lock),
    ...formatFault(status),
    budget && formatBudget(budget),
    formatSizes(status),
    formatWebhooks(status),
    ...brokenExports.map(explainBroken),
  ];
  const facts = lines.flatMap((line) => (line ? [`${wrapText(toPlainLine(line), width, '  ')}\n`] : []));
  const tables = formatTables(status.tables, width);
  const lastRuns = runs.rows.length === 0 ? '' : `\nlast runs\n${formatRows(runs, width)}`;
  return facts.join('') + tables + lastRuns + formatSteps(status.tries, width) + formatChecks(status.checks, width);
}

export function colorStatus(text: string, style: Style): string {
  return paint(
    text,
    [/(?<=^run \S+ \(\S+\) is )(?:held by [\s\S]*?(?=,\s+landed )|interrupted)/gmu, style.bad],
    [/^not caught up(?=:)/gmu, style.warn],
    [/(?<= passed, )[1-9]\d* found violations$/gmu, style.warn],
  );
}

function formatPointer({ lake, pointer, upToDateAt, idleRuns, datasets = 'all' }: Status): string {
  if (pointer === undefined) return `${lake}: nothing published yet`;
  const { runNumber, runId, at, cursor, pipeline } = pointer;
  const runs = idleRuns === 1 ? 'one run' : `${idleRuns} runs`;
  const idle =
    idleRuns === 0 ? '' : `, last checked at ${upToDateAt?.toISOString()} (${runs} since then found no changes)`;
  const selection = datasets === 'all' ? '' : ` (${nameDatasets(datasets)})`;
  return `${lake}: run ${runNumber} (${runId}) of ${pipeline}${selection}, published ${at.toISOString()}, cursor ${cursor}${idle}`;
}

function formatStale({ tables }: Status): string {
  const stale = tables.find(({ table }) => table === 'stale_items')?.rows ?? 0n;
  if (stale === 0n) return '';
  return `not caught up: ${countOf(stale, 'item')} may be out of date (see the stale_items table)`;
}

function formatLag({ newestChange, newestAt, isBehind, seconds }: NonNullable<Status['lag']>): string {
  if (newestChange === undefined) return 'feed: the service has no changes';
  const behind = seconds === 0 ? "the lake doesn't contain it yet" : `the lake is ${formatSeconds(seconds)} behind`;
  return `feed: newest change ${newestChange}, observed ${newestAt?.toISOString()}; ${isBehind ? behind : 'the lake contains it'}`;
}

export function formatOpen({
  runNumber,
  runId,
  state,
  step,
  checks,
  landed,
  calls,
}: NonNullable<Status['open']>): string {
  const why = state === 'held' ? ` by ${checks.join(', ')}` : '';
  const rows = `${countOf(landed.exportRows, 'export row')}, ${countOf(landed.changes, 'change')}, ${countOf(landed.items, 'item')}`;
  const next = {
    held: '; change `checks` in the pipeline file and run sync, or run sync --publish-held',
    landed: `; the tables are unchanged, and the next sync continues it at step ${step}`,
    interrupted: `; the next sync continues it at step ${step}`,
    running: '',
  }[state];
  const done = state === 'landed' ? 'has landed' : `is ${state}${why}, landed`;
  return `run ${runNumber} (${runId}) ${done} ${rows} in ${countOf(calls, 'call')}${next}`;
}

/** If the newest process that worked on a run failed, describes why it failed and what the user should do. */
function formatFault({ tries: [last] }: Status): string[] {
  if (last?.fault === undefined) return [];
  const { step, code, message, hint } = last.fault;
  if (code === 'stopped') return [`run ${last.runNumber} was stopped in step ${step} at ${last.endedAt}`];
  return [
    `run ${last.runNumber} failed in step ${step} at ${last.endedAt} (${code}): ${message}`,
    ...(hint === undefined ? [] : [`what to do: ${hint}`]),
  ];
}

export function formatLock({ pid, host, since, beatAt, alive }: NonNullable<Status['lock']>): string {
  const state = alive ? '' : '; that process has ended, so the next run takes over the lock';
  return `lock: process ${pid} on ${host} since ${since}, last seen ${beatAt.toISOString()}${state}`;
}

export function formatBudget({ calls, exportRows, resetsAt, plan, seenAt }: NonNullable<Status['budget']>): string {
  const rest = (bound: typeof calls, what: string) =>
    bound === undefined
      ? `${what} unlimited`
      : `${formatCount(bound.left)} of ${formatCount(bound.allowed)} ${what} left`;
  const resets = resetsAt === undefined ? '' : `, until ${resetsAt.toISOString()}`;
  return `budget: ${rest(calls, 'calls')}, ${rest(exportRows, 'export rows')}${resets} (plan ${plan}, as of ${seenAt.toISOString()})`;
}

function formatSizes({ bytes }: Status): string {
  const superseded = bytes.superseded === 0 ? '' : `, superseded files ${formatBytes(bytes.superseded)}`;
  return `on disk: tables ${formatBytes(bytes.tables)}${superseded}, raw bytes ${formatBytes(bytes.landing)}`;
}

function formatWebhooks({ webhooks: { waiting, setAside } }: Status): string {
  if (waiting === 0 && setAside === 0) return '';
  const unread = setAside === 0 ? '' : ` · unreadable, moved to _pricelake/webhooks/aside: ${formatCount(setAside)}`;
  return `webhook events for the next sync: ${formatCount(waiting)}${unread}`;
}

function formatTables(tables: Status['tables'], width: number | undefined): string {
  if (tables.length === 0) return '';
  const cells = tables.map(({ table, version, rows, files, bytes }) => {
    return [table, String(version), rows, files, formatBytes(bytes)];
  });
  return `\n${layOutTable(['table', ...['version', 'rows', 'files', 'size'].map(right)], cells, width)}`;
}

/** Formats a table with a row for each process that worked on a run. */
function formatSteps(tries: readonly RunTry[], width: number | undefined): string {
  if (tries.length === 0) return '';
  const reached = RUN_STEPS.filter((step) => tries.some(({ steps }) => steps[step] !== undefined));
  const cells = tries.map(({ runNumber, begunAt, steps, fault }) => [
    ...[String(runNumber), begunAt],
    ...reached.map((step) => steps[step]?.toFixed(1) ?? ''),
    fault === undefined ? '' : `${fault.code} in ${fault.step}`,
  ]);
  return `\nseconds per step\n${layOutTable([right('run'), 'began', ...reached.map(right), 'failed'], cells, width)}`;
}

/** Lists the checks that found violations, and states how many checks passed. */
function formatChecks({ names, rows }: Rows, width: number | undefined): string {
  if (rows.length === 0) return '';
  const read = (row: Rows['rows'][number], name: string) => row[names.indexOf(name)];
  const failed = rows.filter((row) => read(row, 'violations') !== 0n);
  const waived = failed.filter((row) => read(row, 'let_through') === true).map((row) => read(row, 'name'));
  const shown = names.filter((name) => name !== 'let_through');
  const summary = `\nchecks of the last run: ${rows.length - failed.length} passed, ${failed.length} found violations\n`;
  if (failed.length === 0) return summary;
  const cells = failed.map((row) => shown.map((name) => read(row, name) ?? null));
  const note = `published with sync --publish-held although held by ${waived.join(', ')}`;
  const end = waived.length === 0 ? '' : `${wrapText(note, width, '  ')}\n`;
  return summary + formatRows({ names: shown, rows: cells }, width) + end;
}

function formatRows({ names, rows }: Rows, width: number | undefined): string {
  const isNumber = (at: number) => ['bigint', 'number'].includes(typeof rows[0]?.[at]);
  const columns = names.map((name, at) => (isNumber(at) ? right(name) : name));
  return layOutTable(
    columns,
    rows.map((row) => row.map(formatCell)),
    width,
  );
}
