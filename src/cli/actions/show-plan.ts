import { formatBytes } from '../../formats/bytes.js';
import { countOf, formatCount } from '../../formats/count.js';
import { PricelakeError } from '../../io/errors.js';
import type { RunEstimate } from '../../run/estimate/estimate-run.js';
import { estimateWithWings } from '../../wings/index.js';
import type { Arguments, CommandContext } from '../command.js';
import type { plan } from '../commands/copy.js';
import { openPipeline, openWhole } from '../find-target.js';
import { wrapText } from '../output/display-width.js';
import { layOutTable, right } from '../output/table-layout.js';
import { toPlainLine } from '../plain-text.js';
import { formatSeconds } from '../progress.js';
import { estimateShards, type Overlap, type ShardPlans } from '../shards/estimate-shards.js';
import { paint } from '../style.js';

/**
 * Shows what the next sync would do and cost.
 * @throws PricelakeError `budget` or `quota` if sync would refuse to start or would stop early. The error's facts
 *   include the plan.
 */
export async function showPlan(request: Arguments<typeof plan>, context: CommandContext) {
  const { io, signal, json, output, style } = context;
  const { maxRows, maxOverage } = request;
  if (request.all === true) return showShards(request, context);
  const pipeline = await openPipeline(request, context);
  if (request.reconcile === true) pipeline.source.mode = 'snapshot';
  const estimate = await estimateWithWings(pipeline, io, { signal, caps: { maxRows, maxOverage } });
  if (!json)
    await output.write(paint(formatEstimate(estimate, output.columns), [/^Overage: up to .*$/gmu, style.money]));
  const { refusal, ...priced } = estimate;
  const report = { lake: pipeline.lake.path, ...priced };
  if (refusal === undefined) return report;
  throw new PricelakeError(refusal.code, `sync would stop: ${refusal.message}`, { ...refusal.facts, plan: report });
}

/**
 * Shows what the next sync of every shard would do and cost.
 * @throws PricelakeError `budget` or `quota` if sync of a shard would refuse to start or would stop early
 */
async function showShards(request: Arguments<typeof plan>, context: CommandContext) {
  const { io, signal, json, output } = context;
  const { maxRows, maxOverage, reconcile = false } = request;
  const pipeline = await openWhole(request, context);
  const planning = { io, signal, caps: { maxRows, maxOverage }, isReconcile: reconcile };
  const { refusal, ...report } = await estimateShards(pipeline, planning);
  if (!json) await output.write(formatShards(report, output.columns));
  if (refusal === undefined) return report;
  const names = report.shards.flatMap(({ shard, refusal }) => (refusal === undefined ? [] : [shard]));
  const message = `sync of ${names.join(', ')} would stop: ${refusal.message}`;
  throw new PricelakeError(refusal.code, message, { ...refusal.facts, plan: report });
}

function formatShards({ shards, overlap }: Omit<ShardPlans, 'refusal'>, width: number | undefined): string {
  const rows = shards.map(({ shard, mode, calls, exportRows, exact, overageBlocks, refusal }) => {
    const about = (count: number | bigint) => `${exact ? '' : '≈ '}${formatCount(count)}`;
    const state = refusal === undefined ? '' : `would stop: ${toPlainLine(refusal.message)}`;
    return [shard, mode, about(calls), about(exportRows), formatCount(overageBlocks), state];
  });
  const head = ['shard', 'mode', right('calls'), right('export rows'), right('overage'), ''];
  const sum = (of: (one: ShardPlans['shards'][number]) => bigint) => shards.reduce((all, one) => all + of(one), 0n);
  const calls = countOf(
    sum(({ calls }) => BigInt(calls)),
    'call',
  );
  const total = `Total: ${calls} and ${countOf(
    sum(({ exportRows }) => exportRows),
    'export row',
  )}.`;
  const lines = [total, describeOverlap(overlap)].map((line) => `${wrapText(line, width, '  ')}\n`);
  return `${layOutTable(head, rows, width)}\n${lines.join('')}`;
}

function describeOverlap({ counted, least, most }: Overlap): string {
  const count = least === most ? formatCount(most) : `${formatCount(least)} to ${formatCount(most)}`;
  const bought = most === 0n ? 'no listing is in more than one dataset' : `${count} are bought more than once`;
  return `Overlap: a first copy of all shards takes ${countOf(counted, 'listing')}, of which ${bought}, because the API's filters can't exclude the listings of another dataset.`;
}

function formatEstimate(estimate: RunEstimate, width: number | undefined): string {
  const { mode, reason, plan: account, unfinished, steps, looked } = estimate;
  const lines = [
    toPlainLine(`Mode: ${mode}, because ${reason}.`),
    toPlainLine(`Plan: ${account.name} (${account.plan}${account.status ? `, ${account.status}` : ''})`),
  ];
  if (unfinished !== undefined) lines.push(formatUnfinished(unfinished));
  const rows = steps.map(({ step, calls, exportRows, exact, basis }) => {
    const about = (count: number | bigint) => `${exact ? '' : '≈ '}${formatCount(count)}`;
    return [step, about(calls), exportRows === 0n ? '' : about(exportRows), basis];
  });
  const table = steps.length === 0 ? '' : layOutTable(['step', right('calls'), right('export rows'), ''], rows, width);
  const counted = `The plan command itself made ${countOf(looked, 'call')} and wrote nothing.`;
  const wrap = (line: string) => `${wrapText(line, width, '  ')}\n`;
  const total = [...formatTotal(estimate), counted].map(wrap).join('');
  return `${lines.map(wrap).join('')}\n${table}${table === '' ? '' : '\n'}${total}`;
}

function formatUnfinished({ runId, held }: NonNullable<RunEstimate['unfinished']>): string {
  if (held.length === 0) return `Run ${runId} was interrupted, so sync finishes it first.`;
  return `Run ${runId} is held by ${held.join(', ')}, so sync rechecks it without any calls.`;
}

function formatTotal(estimate: RunEstimate): string[] {
  const { calls, exportRows, exact, overageBlocks, allowed, rest, resetsAt, disk } = estimate;
  const about = exact ? '' : '≈ ';
  const of = (left: bigint | undefined, before: bigint | undefined) =>
    before === undefined ? 'unlimited' : `${formatCount(left ?? 0n)} of ${formatCount(before)}`;
  const until = resetsAt === undefined ? '' : ` until ${resetsAt.toISOString()}`;
  return [
    `Total: ${about}${countOf(calls, 'call')} and ${about}${countOf(exportRows, 'export row')}.`,
    `Time: ${describeTime(estimate)}.`,
    `Disk: about ${formatBytes(disk.needed)} during the run; ${formatBytes(disk.free)} free.`,
    `Overage: ${overageBlocks === 0n ? 'none' : `up to ${overageBlocks} block${overageBlocks === 1n ? '' : 's'} of 10,000 rows`}.`,
    `Left after the run: calls ${of(rest.calls, allowed.calls)}, export rows ${of(rest.exportRows, allowed.exportRows)}${until}.`,
  ];
}

/** If the row counts of two runs differ by less than this factor, the runs are expected to take the same time. */
const ALIKE = 1.5;

/**
 * Describes the time that a run will take. If possible, this is the time of an earlier run of the same mode. Otherwise,
 * it is the minimum time for the calls, or the time that the benchmarks took.
 */
function describeTime({ mode, seconds, rows, earlier, benchSeconds }: RunEstimate): string {
  const expected = `this one has ≈ ${formatCount(rows)}`;
  const took = earlier && `took ${formatSeconds(earlier.seconds)}`;
  if (earlier?.mode === mode) {
    const ratio = Number(rows) / Math.max(1, Number(earlier.rows));
    if (ratio < ALIKE && ratio > 1 / ALIKE)
      return `about ${formatSeconds(earlier.seconds)}, as run ${earlier.run} took`;
    return `run ${earlier.run} ${took} for ${countOf(earlier.rows, 'row')}; ${expected}`;
  }
  const least =
    seconds === undefined ? undefined : `at least ${formatSeconds(seconds)}, for the calls at the plan's rate`;
  if (benchSeconds !== undefined) {
    const benched = `In the benchmarks, this number of rows took about ${formatSeconds(benchSeconds)}`;
    return `${least ?? 'unknown before a first run'}. ${benched} (two cores, the service on the same machine)`;
  }
  const unknown = `unknown before a first run in ${mode} mode`;
  const known = least === undefined ? unknown : `${least}; the total is ${unknown}`;
  if (earlier === undefined) return known;
  return `${known}. Run ${earlier.run}, in ${earlier.mode} mode, ${took} for ${countOf(earlier.rows, 'row')}; ${expected}`;
}
