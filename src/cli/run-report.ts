import { countOf, formatCount } from '../formats/count.js';
import type { RunRow } from '../run/prove/run-record.js';
import type { SyncReport } from '../wings/index.js';
import { RawJson } from './json-text.js';
import { hangText, wrapText } from './output/display-width.js';
import { toPlainLine } from './plain-text.js';
import { PLAIN, paint, type Style } from './style.js';

interface ReportOptions {
  style?: Style;
  /**
   * The words that start this program on the command line. The report suggests commands that begin with these words.
   */
  program?: string;
  /**
   * True if the sync is one step of another command. That command then reports failed checks and next commands itself.
   */
  isStep?: boolean;
  /** The width of the terminal in columns; default 80. */
  columns?: number | undefined;
}

/** Formats the report of a run for people: changes, cost, checks and next commands. */
export function formatReport(report: SyncReport, lakePath: string, options: ReportOptions = {}): string {
  const { style = PLAIN, program = 'pricelake', isStep = false, columns = WIDTH } = options;
  const { row, published } = report;
  const again = report.resumed ? ', continued after an interruption' : '';
  const attention = listAttention(isStep ? { ...report, checks: [] } : report, lakePath);
  const first = published
    ? `Run ${row.run_number} (${row.mode}: ${toPlainLine(row.reason)}) published to ${lakePath} in ${row.seconds.toFixed(1)}${NO_BREAK}s${again}.`
    : `Nothing changed (${describeCursor(row)}, ${countOf(row.calls, 'call')}). ${lakePath} is unchanged${again}.`;
  const parts: [string, string[]][] = [
    ['changed', published ? describeChanges(row) : []],
    ['histories', describeHistories(report)],
    ['cost', published ? [describeCost(row)] : []],
    ['proof', published ? describeProof(report) : []],
    ['attention', attention.map(({ what }) => what)],
    ['next', listNext(report, attention, lakePath, isStep).map((command) => `${program} ${command}`)],
  ];
  const lines = parts.flatMap(([name, texts]) =>
    texts.map((text, at) => {
      const label = `  ${(at === 0 ? name : '').padEnd(10)} `;
      // Commands aren't wrapped, so that they can be copied.
      return name === 'next' ? label + toPlainLine(text) : hangText(label, toPlainLine(text), columns);
    }),
  );
  return paint(
    `${[wrapText(first, columns, '  ').replaceAll(NO_BREAK, ' '), ...lines].join('\n')}\n`,
    [/^ {2}attention(?= )/gmu, style.warn],
    [/, waived$|^.{12} not caught up(?=:)/gmu, style.warn],
    [/overage: up to .*$/gmu, style.money],
  );
}

const WIDTH = 80;
/** Marks a space where a line must not break. It is printed as a normal space. */
const NO_BREAK = '\u00a0';

function describeCursor({ cursor_to }: RunRow): string {
  return cursor_to === null ? 'no cursor' : `cursor ${cursor_to}`;
}

function describeChanges(row: RunRow): string[] {
  const { received, written, rejected, deduplicated, items } = row;
  const columns = Object.entries(JSON.parse(row.difference_columns) as Record<string, number>);
  const listed = columns.map(([name, n]) => `${name} ${n}`).join(', ');
  return [
    `${countOf(received, 'row')} = ${formatCount(written)} written + ${formatCount(rejected)} rejected + ${formatCount(deduplicated)} deduplicated`,
    `${countOf(items, 'item')}, ${describeCursor(row)}`,
    ...(row.differences > 0n ? [`repaired ${countOf(row.differences, 'item')} that differed: ${listed}`] : []),
    ...(row.missed > 0n ? [`added ${countOf(row.missed, 'item')} that no change had reported`] : []),
    ...(row.gone > 0n ? [`marked ${countOf(row.gone, 'item')} as gone`] : []),
  ];
}

function describeCost({ calls, export_rows, overage, overage_blocks }: RunRow): string {
  const blocks = countOf(overage_blocks, 'block');
  return `${countOf(calls, 'call')}, ${countOf(export_rows, 'export row')}, overage: ${overage ? `up to ${blocks} of 10,000 rows` : 'none'}`;
}

/**
 * Describes the results of the checks and of the sample of items that were read again. States no error rate, because
 * the sample of one run is too small for an estimate.
 */
function describeProof({ row, checks }: SyncReport): string[] {
  const passed = checks.filter(({ violations }) => violations === 0n).length;
  const summary = `${passed} of ${checks.length} checks passed`;
  if (row.sampled === 0n) return [summary];
  return [summary, `${countOf(row.sampled, 'item')} read again, ${formatCount(row.sample_mismatches)} differ`];
}

function describeHistories({ histories, row }: SyncReport): string[] {
  if (histories === undefined || histories.asked + histories.left === 0) return [];
  const { asked, left, runId } = histories;
  const later = left === 0 ? '' : `; ${formatCount(left)} left for later, because the calls are used up`;
  const by = runId === row.run_id ? '' : `, added by run ${runId}`;
  return [`${countOf(asked, 'item')} read${by}${later}`];
}

interface Attention {
  what: string;
  command: string | undefined;
}

function listAttention({ row, checks, published }: SyncReport, lakePath: string): Attention[] {
  const lake = ` --lake ${lakePath}`;
  const [unknown, stale] = [row.listing_unknown ?? 0n, row.stale_items ?? 0n];
  const why = published ? '' : `: ${row.reason}`;
  const verb = row.sample_mismatches === 1n ? 'differs' : 'differ';
  const failed = published ? checks.filter(({ violations }) => violations > 0n) : [];
  const warnings = failed.filter(({ severity }) => severity === 'warn');
  const names = warnings.map(({ name, violations }) => `${name} ${formatCount(violations)}`).join(', ');
  const command = `check${lake}`;
  const all: [isThere: boolean, what: string, command?: string][] = [
    [unknown > 0n, `not caught up: up to ${countOf(unknown, 'item')} may no longer be listed${why}`],
    [stale > 0n, `not caught up: ${countOf(stale, 'item')} may be out of date`, `query "FROM stale_items"${lake}`],
    [
      published && row.rejected > 0n,
      `${countOf(row.rejected, 'row')} rejected`,
      `query "FROM rejects WHERE run_id = '${row.run_id}'"${lake}`,
    ],
    [
      published && row.sample_mismatches > 0n,
      `${countOf(row.sample_mismatches, 'item')} ${verb} from the service`,
      `verify${lake}`,
    ],
    ...failed.map(({ severity, name, violations, waived }): [boolean, string, string] => {
      const what = `${severity} ${name}: ${countOf(violations, 'row')}${waived ? ', waived' : ''}`;
      return [severity !== 'warn', what, command];
    }),
    [names !== '', `warnings: ${names}`, command],
  ];
  return all.flatMap(([isThere, what, next]) => (isThere ? [{ what, command: next }] : []));
}

/**
 * Lists the commands that the user should run next. If problems need attention, these are the commands that show the
 * problems. After a first copy without problems, these are `spread` and `report`.
 */
function listNext({ row, published }: SyncReport, attention: Attention[], lakePath: string, isStep: boolean): string[] {
  const commands = [...new Set(attention.flatMap(({ command }) => command ?? []))];
  if (commands.length > 0 || !published || isStep) return commands;
  return row.run_number === 1n ? [`spread --lake ${lakePath}`, `report --lake ${lakePath}`] : [];
}

/**
 * Builds the report that `--json` prints. Its names match the columns of the runs table. Cursors are strings, because
 * many JSON parsers would round them as numbers.
 */
export function describeReport(report: SyncReport, lakePath: string): Record<string, unknown> {
  const { cursor_from, cursor_to, ...row } = report.row;
  const { asked, left, runId } = report.histories ?? {};
  return {
    published: report.published,
    resumed: report.resumed,
    lake: lakePath,
    ...row,
    cursor_from: cursor_from === null ? null : String(cursor_from),
    cursor_to: cursor_to === null ? null : String(cursor_to),
    difference_columns: new RawJson(row.difference_columns),
    sample_differences: new RawJson(row.sample_differences),
    product_differences: new RawJson(row.product_differences),
    facet_differences: new RawJson(row.facet_differences),
    schema_drift: new RawJson(row.schema_drift),
    ...(report.histories === undefined ? {} : { histories: { asked, left, run_id: runId } }),
    checks: report.checks.map(({ name, severity, violations, waived: let_through }) => {
      return { name, severity, violations, let_through };
    }),
  };
}
