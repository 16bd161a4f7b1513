import type { Check } from '../../check/check.js';
import { NAMED_TABLES } from '../../check/count-rows.js';
import { loadChecks } from '../../check/load.js';
import { type CheckSettings, runChecks } from '../../check/run.js';
import { PricelakeError } from '../../errors/errors.js';
import { suggestName } from '../../errors/suggest-name.js';
import { formatCount } from '../../formats/count.js';
import { RelationGraph } from '../../sql/graph.js';
import type { CheckResult, Severity } from '../../tables/table.js';
import { RawJson } from '../json-text.js';
import { layOutSample } from '../output/sample-table.js';
import { layOutTable } from '../output/table-layout.js';
import { wrapText } from '../output/wrap-text.js';
import { toPlainLine } from '../plain-text.js';
import { readLake } from '../read-lake.js';
import { findTarget, type ReadingArguments } from '../reading-target.js';
import type { CommandContext, CommandReport } from '../run-command.js';
import { paint } from '../style.js';

export interface CheckRequest extends ReadingArguments {
  /** Folder of checks beside the shipped ones. */
  checks?: string | undefined;
  failOn: Severity;
  select?: string[] | undefined;
}

/** From grave to slight. */
const ORDER: Severity[] = ['gate', 'error', 'warn'];

/**
 * Runs the checks over the published tables and shows what they found.
 * @throws PricelakeError `check_failed` when one of severity `failOn` or graver found something.
 */
export async function runCheckCommand(request: CheckRequest, context: CommandContext): Promise<CommandReport> {
  const { lake, settings } = await findTarget(request, process.env);
  const all = await loadChecks(request.checks ?? settings?.checksFolder);
  const checks = selectChecks(all, request.select);
  const results = await readLake({ path: lake, signal: context.signal }, ({ db }) =>
    runChecks(
      new RelationGraph(db),
      NAMED_TABLES,
      checks,
      selectSettings(settings?.checks ?? {}, checks),
      undefined,
      context.io,
    ),
  );
  if (!context.json) await context.output.write(formatResults(results, checks, context));
  const report = results.map(describeResult);
  const failed = results.filter((result) => isFailure(result, request.failOn));
  if (failed.length > 0) {
    const names = failed.map(({ name }) => name).join(', ');
    throw new PricelakeError('check_failed', `${failed.length} of ${results.length} checks failed: ${names}`, {
      checks: report,
    });
  }
  return { checks: report };
}

/** Whether a result counts as failed for `failOn`: it found something, and is as grave. */
export function isFailure({ violations, severity }: CheckResult, failOn: Severity): boolean {
  return violations > 0n && ORDER.indexOf(severity) <= ORDER.indexOf(failOn);
}

function selectChecks(checks: Check[], names: string[] | undefined): Check[] {
  if (names === undefined) return checks;
  const known = checks.map(({ name }) => name);
  for (const name of names) {
    if (known.includes(name)) continue;
    const near = suggestName(name, known);
    const hint = near === undefined ? `Known: ${known.join(', ')}.` : `Did you mean ${near}?`;
    throw new PricelakeError('usage', `--select ${name}: no such check`, { hint });
  }
  return checks.filter(({ name }) => names.includes(name));
}

/** Settings of checks that are not run are no mistake. */
function selectSettings(settings: CheckSettings, checks: Check[]): CheckSettings {
  const names = new Set(checks.map(({ name }) => name));
  return Object.fromEntries(Object.entries(settings).filter(([name]) => names.has(name)));
}

function formatResults(
  results: CheckResult[],
  checks: Check[],
  { output: { columns: width }, style }: CommandContext,
): string {
  const next = new Map(checks.map((check) => [check.name, check.next]));
  const rows = results.map(({ name, severity, violations }) => {
    const passed = violations === 0n;
    return [passed ? 'ok' : 'FAILED', severity, name, passed ? '' : formatCount(violations)];
  });
  const table = layOutTable(
    ['status', 'severity', 'check', 'violations'],
    rows,
    ['left', 'left', 'left', 'right'],
    width,
  );
  const notes = results
    .filter(({ violations }) => violations > 0n)
    .map(({ name, description, sample }) => {
      const what = wrapText(toPlainLine(`${name}: ${description}`), width);
      const hint = wrapText(`→ ${toPlainLine(next.get(name) ?? '')}`, width, '  ');
      return `\n${what}\n${hint}\n\n${layOutSample(sample, width)}`;
    });
  const summary = `\n${results.length - notes.length} of ${results.length} checks passed\n`;
  return paint(table, [/^FAILED/gmu, style.bad]) + notes.join('') + summary;
}

function describeResult({ name, severity, description, violations, sample, seconds }: CheckResult): CommandReport {
  return { name, severity, passed: violations === 0n, violations, description, sample: new RawJson(sample), seconds };
}
