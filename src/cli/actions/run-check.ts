import type { Check, CheckSettings } from '../../check/check.js';
import { NAMED_TABLES } from '../../check/count-rows.js';
import { loadChecks } from '../../check/load.js';
import { runChecks } from '../../check/run.js';
import { PricelakeError } from '../../io/errors.js';
import { suggestName } from '../../io/suggest-name.js';
import { RelationGraph } from '../../sql/graph.js';
import type { CheckResult, Severity } from '../../tables/table.js';
import type { Arguments, CommandContext, CommandReport } from '../command.js';
import type { check } from '../commands/keep.js';
import { findTarget } from '../find-target.js';
import { RawJson } from '../json-text.js';
import { wrapText } from '../output/display-width.js';
import { layOutSample } from '../output/table.js';
import { layOutTable, right } from '../output/table-layout.js';
import { toPlainLine } from '../plain-text.js';
import { readLake } from '../read-lake.js';
import { paint } from '../style.js';

/** From most to least severe. */
const ORDER: Severity[] = ['gate', 'error', 'warn'];

/** @throws PricelakeError `check_failed` if one of severity `failOn` or a higher one found something */
export async function runCheckCommand(request: Arguments<typeof check>, context: CommandContext) {
  const { lake, settings } = await findTarget(request);
  const all = await loadChecks(request.checks ?? settings?.checksFolder);
  const checks = selectChecks(all, request.select);
  const own = selectSettings(settings?.checks ?? {}, checks);
  const results = await readLake({ path: lake, signal: context.signal }, ({ db }) =>
    runChecks(new RelationGraph(db), NAMED_TABLES, checks, own, undefined, context.io),
  );
  if (!context.json) await context.output.write(formatResults(results, checks, context));
  const report = results.map(describeResult);
  const failed = results.filter((result) => isFailure(result, request.failOn));
  if (failed.length > 0) {
    const names = failed.map(({ name }) => name).join(', ');
    const message = `${failed.length} of ${results.length} checks failed: ${names}`;
    throw new PricelakeError('check_failed', message, { checks: report });
  }
  return { checks: report };
}

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

/** Drops settings of checks that don't run, which `runChecks` would refuse. */
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
  const rows = results.map(({ name, severity, violations }) =>
    violations === 0n ? ['ok', severity, name, ''] : ['FAILED', severity, name, violations],
  );
  const table = layOutTable(['status', 'severity', 'check', right('violations')], rows, width);
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
