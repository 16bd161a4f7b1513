import type { RunReport } from '../pipeline/sync.js';
import { toPlainLine } from './plain-text.js';

/** The report for people: what came, what it cost, what to look at. */
export function formatReport(report: RunReport, lakePath: string): string {
  const { row, checks } = report;
  const count = (n: bigint) => n.toLocaleString('en-US');
  const again = report.resumed ? ', continued after an interruption' : '';
  if (!report.published) {
    return `Nothing changed (cursor ${row.cursor_to}, ${row.calls} calls). ${lakePath} stays as it was${again}.\n`;
  }
  const failed = checks.filter((check) => check.violations > 0n);
  const lines = [
    `Run ${row.run_number} (${row.mode}) published to ${lakePath} in ${row.seconds.toFixed(1)} s${again}.`,
    `  received ${count(row.received)} rows = ${count(row.written)} written + ${count(row.rejected)} rejected + ${count(row.deduplicated)} deduplicated`,
    `  items ${count(row.items)} · cursor ${row.cursor_to} · ${row.calls} calls · ${count(row.export_rows)} export rows${row.overage ? ' (with overage)' : ''}`,
    `  checks ${checks.length - failed.length} of ${checks.length} passed`,
    ...failed.map((check) =>
      toPlainLine(
        `    ${check.severity} ${check.name}: ${count(check.violations)} rows${check.letThrough ? ', let through' : ''}`,
      ),
    ),
  ];
  return `${lines.join('\n')}\n`;
}

/** The report for machines. Cursors are text: they exceed what JSON readers keep exact. */
export function describeReport(report: RunReport, lakePath: string): Record<string, unknown> {
  const { cursor_from, cursor_to, ...row } = report.row;
  return {
    published: report.published,
    resumed: report.resumed,
    lake: lakePath,
    ...row,
    cursor_from: cursor_from === null ? null : String(cursor_from),
    cursor_to: String(cursor_to),
    checks: report.checks.map(({ name, severity, violations, letThrough }) => ({
      name,
      severity,
      violations,
      letThrough,
    })),
  };
}
