import type { RunRow } from '../run/ledger.js';
import type { RunReport } from '../sync/sync.js';
import { RawJson } from './json-text.js';
import { toPlainLine } from './plain-text.js';
import { PLAIN, paint, type Style } from './style.js';

/** The report for people: what came, what it cost, what to look at. */
export function formatReport(report: RunReport, lakePath: string, style: Style = PLAIN): string {
  const { row, checks } = report;
  const count = (n: bigint) => n.toLocaleString('en-US');
  const again = report.resumed ? ', continued after an interruption' : '';
  if (!report.published) {
    const histories = describeHistories(report).map((line) => `${line}\n`);
    const listing = describeListing(row, count).map((line) => `${line}: ${toPlainLine(row.reason)}\n`);
    const summary = `Nothing changed (${describeCursor(row)}, ${row.calls} calls). ${lakePath} stays as it was${again}.\n`;
    return [summary, ...listing, ...histories].join('');
  }
  const failed = checks.filter((check) => check.violations > 0n);
  const lines = [
    `Run ${row.run_number} (${row.mode}: ${toPlainLine(row.reason)}) published to ${lakePath} in ${row.seconds.toFixed(1)} s${again}.`,
    `  received ${count(row.received)} rows = ${count(row.written)} written + ${count(row.rejected)} rejected + ${count(row.deduplicated)} deduplicated`,
    `  items ${count(row.items)} · ${describeCursor(row)} · ${row.calls} calls · ${count(row.export_rows)} export rows${row.overage ? ' (with overage)' : ''}`,
    ...describeListing(row, count),
    ...describeFindings(row, count),
    ...describeHistories(report),
    `  checks ${checks.length - failed.length} of ${checks.length} passed`,
    ...failed.map((check) =>
      toPlainLine(
        `    ${check.severity} ${check.name}: ${count(check.violations)} rows${check.waived ? ', waived' : ''}`,
      ),
    ),
  ];
  return paint(
    `${lines.join('\n')}\n`,
    [/\(with overage\)/gu, style.money],
    [/, waived$/gmu, style.warn],
    [/not caught up(?=:)/gu, style.warn],
  );
}

function describeCursor({ cursor_to }: RunRow): string {
  return cursor_to === null ? 'no cursor' : `cursor ${cursor_to}`;
}

/** What a run by polling could not establish; the run's reason says why. */
function describeListing({ listing_unknown }: RunRow, count: (n: bigint) => string): string[] {
  if ((listing_unknown ?? 0n) === 0n) return [];
  return [`  not caught up: whether ${count(listing_unknown ?? 0n)} items at most are still listed is not known`];
}

/** How far items' histories are read. */
function describeHistories({ histories, row }: RunReport): string[] {
  if (histories === undefined || histories.asked + histories.left === 0) return [];
  const { asked, left, runId } = histories;
  const later = left === 0 ? '' : `; ${left.toLocaleString('en-US')} are left, for want of calls`;
  const by = runId === row.run_id ? '' : `, added by run ${runId}`;
  return [`  histories of ${asked.toLocaleString('en-US')} items read${by}${later}`];
}

/** What comparisons with the service found, and how much they prove. */
function describeFindings(row: RunRow, count: (n: bigint) => string): string[] {
  const lines: string[] = [];
  if (row.sampled > 0n) {
    const bound = (100 * row.mismatch_bound).toPrecision(2);
    lines.push(
      `  sample ${count(row.sampled)} items read again, ${count(row.sample_mismatches)} differ: at most ${bound} % of the lake, 95 % confidence`,
    );
  }
  const columns = Object.entries(JSON.parse(row.difference_columns) as Record<string, number>);
  const listed = columns.map(([name, n]) => `${toPlainLine(name)} ${n}`).join(', ');
  if (row.differences > 0n) lines.push(`  repaired ${count(row.differences)} items that differed: ${listed}`);
  if (row.missed > 0n) lines.push(`  added ${count(row.missed)} items that no change told of`);
  if (row.gone > 0n) lines.push(`  marked ${count(row.gone)} items as gone`);
  return lines;
}

function describeRead({ asked, left, runId }: NonNullable<RunReport['histories']>): Record<string, unknown> {
  return { asked, left, run_id: runId };
}

/** The report for machines, with names as the columns of table runs. Cursors are text: they exceed what JSON readers keep exact. */
export function describeReport(report: RunReport, lakePath: string): Record<string, unknown> {
  const { cursor_from, cursor_to, ...row } = report.row;
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
    ...(report.histories === undefined ? {} : { histories: describeRead(report.histories) }),
    checks: report.checks.map(({ name, severity, violations, waived }) => ({
      name,
      severity,
      violations,
      let_through: waived,
    })),
  };
}
