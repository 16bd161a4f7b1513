import type { Check, CheckSettings } from '../../check/check.js';
import { NAMED_TABLES } from '../../check/count-rows.js';
import { describeFinding } from '../../check/finding.js';
import { loadChecks } from '../../check/load.js';
import { runChecks } from '../../check/run.js';
import { countOf } from '../../formats/count.js';
import { PricelakeError } from '../../io/errors.js';
import { suggestName } from '../../io/suggest-name.js';
import { RelationGraph } from '../../sql/graph.js';
import type { CheckResult, Severity } from '../../tables/table.js';
import type { Arguments, CommandContext } from '../command.js';
import type { check } from '../commands/keep.js';
import { findTarget } from '../find-target.js';
import type { RemoteSource } from '../join-lakes.js';
import { RawJson } from '../json-text.js';
import { hangText, wrapText } from '../output/display-width.js';
import { layOutSample } from '../output/table.js';
import { layOutTable, right } from '../output/table-layout.js';
import { toPlainLine } from '../plain-text.js';
import { readLake } from '../read-lake.js';
import { paint, type Style } from '../style.js';

/** Severities, from highest to lowest. */
const ORDER: Severity[] = ['gate', 'error', 'warn'];

/** Runs the checks. @throws PricelakeError `check_failed` if a check of severity `failOn` or higher found violations */
export async function runCheckCommand(request: Arguments<typeof check>, context: CommandContext) {
  const { checks, results } = await checkLake(request, context);
  if (!context.json) await context.output.write(formatResults(results, checks, request.all === true, context));
  const report = results.map(describeResult);
  const failed = results.filter((result) => isFailure(result, request.failOn));
  if (failed.length > 0) {
    const names = failed.map(({ name }) => name).join(', ');
    const message = `${failed.length} of ${results.length} checks failed: ${names}`;
    throw new PricelakeError('check_failed', message, { checks: report });
  }
  return { checks: report };
}

export async function checkLake(
  request: Arguments<typeof check> & { remote?: RemoteSource | undefined },
  { signal, io }: Pick<CommandContext, 'signal' | 'io'>,
) {
  const { lake, settings } = await findTarget(request);
  const all = await loadChecks(request.checks ?? settings?.checksFolder);
  const checks = selectChecks(all, request.select);
  const own = selectSettings(settings?.checks ?? {}, checks);
  const results = await readLake({ path: lake, remote: request.remote, signal }, ({ db }) =>
    runChecks(new RelationGraph(db), NAMED_TABLES, checks, own, undefined, io),
  );
  return { checks, results };
}

/** Runs the checks on the demo's lake. `lines` has one line for each check that found violations. */
export async function runDemoChecks(lake: string, context: CommandContext) {
  const { checks, results } = await checkLake({ lake, failOn: 'gate' }, context);
  const { output, style } = context;
  const lines = listFailed(results).map((result) => formatFinding(result, checks, output.columns, style));
  return { lines, checks: results.map(describeResult) };
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
    const hint = near === undefined ? `Choose from ${known.join(', ')}.` : `Did you mean ${near}?`;
    throw new PricelakeError('usage', `--select ${name}: there is no such check`, { hint });
  }
  return checks.filter(({ name }) => names.includes(name));
}

/** Returns the settings of the selected checks. `runChecks` would reject settings of any other check as unknown. */
function selectSettings(settings: CheckSettings, checks: Check[]): CheckSettings {
  const names = new Set(checks.map(({ name }) => name));
  return Object.fromEntries(Object.entries(settings).filter(([name]) => names.has(name)));
}

/**
 * Formats the checks that found violations, highest severity first. With `isWhole`, also lists the checks that passed.
 */
function formatResults(results: CheckResult[], checks: Check[], isWhole: boolean, context: CommandContext): string {
  const { output, style } = context;
  const failed = listFailed(results);
  const found = failed.map((result) => {
    const next = checks.find(({ name }) => name === result.name)?.next ?? '';
    const advice = wrapText(`→ ${toPlainLine(next)}`, output.columns, '  ');
    const finding = formatFinding(result, checks, output.columns, style);
    return `${finding}${advice}\n\n${layOutSample(result.sample, output.columns)}\n`;
  });
  const table = isWhole ? `${formatTable(results, output.columns, style)}\n` : '';
  return table + found.join('') + summarize(results.length, failed.length, isWhole);
}

function summarize(all: number, failed: number, isWhole: boolean): string {
  if (failed === 0) return `${all === 1 ? 'The check' : `All ${all} checks`} passed.\n`;
  const rest = isWhole || failed === all ? '' : ' The others passed; --all lists them.';
  return `${failed} of ${countOf(all, 'check')} found violations.${rest}\n`;
}

const listFailed = (results: CheckResult[]) =>
  results
    .filter(({ violations }) => violations > 0n)
    .sort((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity));

/** Formats a line for a check with violations, such as `error price_with_currency: 21 prices have no currency.` */
function formatFinding(result: CheckResult, checks: Check[], width: number | undefined, style: Style): string {
  const { name, severity } = result;
  const found = describeFinding(
    result,
    checks.find((check) => check.name === name),
  );
  const text = hangText(`${severity.padEnd(5)} `, toPlainLine(`${name}: ${found}`), width);
  return `${paint(text, [/^\w+/u, severity === 'warn' ? style.warn : style.bad])}\n`;
}

function formatTable(results: CheckResult[], width: number | undefined, style: Style): string {
  const isOk = ({ violations }: CheckResult) => violations === 0n;
  const rows = [...listFailed(results), ...results.filter(isOk)].map(({ name, severity, violations }) =>
    violations === 0n ? ['ok', severity, name, ''] : ['FAILED', severity, name, violations],
  );
  const table = layOutTable(['status', 'severity', 'check', right('violations')], rows, width);
  return paint(table, [/^FAILED(?= +(?:gate|error))/gmu, style.bad], [/^FAILED(?= +warn)/gmu, style.warn]);
}

/** Returns the result of a check in the form that `--json` prints. */
export function describeResult({ name, severity, description, violations, sample, seconds }: CheckResult) {
  return { name, severity, passed: violations === 0n, violations, description, sample: new RawJson(sample), seconds };
}
