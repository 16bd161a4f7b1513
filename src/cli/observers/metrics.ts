import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { replaceFile } from '../../io/durable.js';
import { PricelakeError } from '../../io/errors.js';
import { countLeft } from '../../plan/allowance.js';
import type { RunReport } from '../../run/sync.js';
import { type LakeFigures, readLakeFigures } from './lake-figures.js';
import type { RunObserver, WatchedRun } from './watch-run.js';

/**
 * Writes the metrics of each run to a file for the node exporter's textfile collector.
 * @throws PricelakeError `usage` if the file's folder isn't writable
 */
export async function openMetricsFile(file: string): Promise<RunObserver> {
  try {
    await access(dirname(file), constants.W_OK);
  } catch (cause) {
    throw new PricelakeError('usage', `--metrics ${file}: its folder is not writable`, {}, { cause });
  }
  // The collector ignores files with such a name, so it never reads an incomplete file.
  const part = join(dirname(file), `.${basename(file)}.${process.pid}.tmp`);
  return {
    end: async (run) => {
      const { pipeline } = run;
      // If the lake can't be read, its metrics are omitted. The error of the run explains why it can't be read.
      const lake = pipeline === undefined ? undefined : await readLakeFigures(pipeline).catch(() => undefined);
      const text = writePrometheusText(describeMetrics(run, lake), { pipeline: pipeline?.name ?? '' });
      await replaceFile(file, text, part);
    },
  };
}

/** Lists the metrics of a run and its lake. A failed run has no metrics about rows and checks. */
function describeMetrics(run: WatchedRun, lake: LakeFigures | undefined): Metric[] {
  const { report, endedAt, startedAt } = run;
  const gauge = (name: string, help: string, samples: Metric['samples']): Metric => ({ name, help, samples });
  const one = (name: string, help: string, value: number | bigint | boolean | undefined) =>
    gauge(name, help, value === undefined ? [] : [{ value }]);
  const by = (name: string, help: string, label: string, values: Iterable<[string, number | bigint]>) =>
    gauge(
      name,
      help,
      Array.from(values, ([text, value]) => ({ labels: { [label]: text }, value })),
    );
  const seconds = (ms: number | undefined) => (ms === undefined ? undefined : ms / 1000);
  const end = endedAt.getTime();
  const current = lake?.currentAt;
  const lag = current === undefined ? undefined : Math.max(0, end - current);
  const row = report?.row;
  const fates = (['received', 'written', 'rejected', 'deduplicated'] as const).flatMap((fate): [string, bigint][] =>
    row === undefined ? [] : [[fate, row[fate]]],
  );
  const left = Object.entries(lake?.bounds ?? {}).flatMap(([kind, bound]): [string, bigint][] =>
    bound === undefined ? [] : [[kind, countLeft(bound)]],
  );
  const version = row === undefined ? [] : [{ labels: { version: row.pricelake_version }, value: 1 }];
  return [
    one('pricelake_run_success', '1 if the last run succeeded, 0 if it failed', run.exitCode === 0),
    one('pricelake_run_exit_code', 'Exit code of the last run', run.exitCode),
    one('pricelake_run_end_timestamp_seconds', 'When the last run ended', seconds(end)),
    one('pricelake_run_duration_seconds', 'How long the last run took', seconds(end - startedAt.getTime())),
    by('pricelake_step_duration_seconds', 'How long each step of the last run took', 'step', run.steps),
    one('pricelake_last_success_timestamp_seconds', 'When a run last succeeded', seconds(lake?.succeededAt)),
    one('pricelake_current_timestamp_seconds', 'When a run last read all visible changes', seconds(current)),
    one('pricelake_lag_seconds', 'Lag of the lake when the last run ended', seconds(lag)),
    by('pricelake_left', 'Calls and export rows left this month under the plan and the budget', 'kind', left),
    by('pricelake_run_rows', 'Rows of the last run by outcome', 'fate', fates),
    one('pricelake_run_calls', 'Calls made by the last run', row?.calls),
    one('pricelake_items', 'Rows in the items table', row?.items),
    one('pricelake_stale_items', 'Items that the next run will read again', row?.stale_items ?? undefined),
    gauge('pricelake_checks', 'Checks of the last run by severity and result', countChecks(report?.checks ?? [])),
    gauge('pricelake_info', 'Versions', version),
  ];
}

/**
 * Counts the failed and the passed checks of each severity. Includes counts of zero, because a missing time series
 * doesn't trigger an alert.
 */
function countChecks(checks: RunReport['checks']): Metric['samples'] {
  if (checks.length === 0) return [];
  return (['gate', 'error', 'warn'] as const).flatMap((severity) => {
    const some = checks.filter((check) => check.severity === severity);
    const failed = some.filter(({ violations }) => violations > 0n).length;
    return [
      { labels: { severity, result: 'failed' }, value: failed },
      { labels: { severity, result: 'passed' }, value: some.length - failed },
    ];
  });
}

export interface Metric {
  name: string;
  help: string;
  samples: { labels?: Record<string, string>; value: number | bigint | boolean }[];
}

/**
 * Formats metrics in the Prometheus text format 0.0.4. Every metric is a gauge, because each run starts with new
 * values.
 */
export function writePrometheusText(metrics: readonly Metric[], common: Record<string, string>): string {
  return metrics
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, help, samples }) => {
      const lines = samples.map(
        ({ labels, value }) =>
          `${name}${writeLabels({ ...common, ...labels })} ${typeof value === 'boolean' ? Number(value) : value}\n`,
      );
      return `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} gauge\n${lines.join('')}`;
    })
    .join('');
}

function writeLabels(labels: Record<string, string>): string {
  const toLabel = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
  const texts = Object.entries(labels).map(([name, text]) => `${name}="${toLabel(text)}"`);
  return texts.length === 0 ? '' : `{${texts.join(',')}}`;
}
