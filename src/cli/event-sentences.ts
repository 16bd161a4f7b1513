import { formatBytes } from '../formats/bytes.js';
import { countOf, formatCount } from '../formats/count.js';
import { formatSeconds } from './progress.js';

type Facts = Record<string, unknown>;

/**
 * Sentences that a terminal shows for frequent log events. A log file contains each event's name and values instead.
 */
const SENTENCES: Record<string, (facts: Facts) => string> = {
  'api.retry': ({ reason, waitMs, attempt }) => `${reason}; ${tryAgain(waitMs, attempt)}`,
  'api.rate_limited': ({ reason, waitMs, attempt }) => `${reason}; ${tryAgain(waitMs, attempt)}`,
  'export.again': ({ shard, attempt, reason }) =>
    `export ${shard} was interrupted: ${reason}; retrying (attempt ${Number(attempt) + 1})`,
  'export.broken': ({ shard, runs, nextRunAt }) =>
    `export ${shard} was interrupted in ${countOf(Number(runs), 'run')}; pricelake will retry it from ${(nextRunAt as Date).toISOString()}`,
  'export.overage_not_agreed': ({ blocks, agreed }) =>
    `the service charges for ${countOf(blocks as bigint, 'block')} of overage, but the limit is ${String(agreed)}`,
  'run.resumed': ({ runId }) => `Continuing run ${runId}, which was interrupted`,
  'datasets.waiting': ({ datasets, reason }) => `datasets ${datasets} are postponed: ${reason}`,
  'items.stale': ({ items }) => `${countOf(items as bigint, 'item')} may be out of date; each run rereads them`,
  'copy.datasets_locked': ({ kept }) =>
    `kept ${countOf(kept as bigint, 'item')} unchanged, because the key can no longer read their datasets`,
  'pages.short': ({ seen, total }) =>
    `the pages contain ${countOf(seen as bigint, 'item')}, but the service reports ${formatCount(total as bigint)}; rereading the pages`,
  'sample.skipped': ({ reason }) => `no sample was compared: ${reason}`,
  'probe.skipped': ({ reason }) => `the times when websites were last seen were not requested: ${reason}`,
  'feed.cursor_refused': ({ cursor }) => `the service rejects cursor ${cursor}; rereading the feed from the beginning`,
  'gate.waived': ({ checks }) => `published although ${(checks as string[]).join(', ')} failed`,
  'lake.lock_taken_over': ({ pid, host }) => `took over the lock of process ${pid} on ${host}, which has ended`,
  'lake.recovered': ({ table, files }) => `removed ${countOf(Number(files), 'file')} of ${table} that no version needs`,
  'journal.torn': ({ file, line, bytes }) =>
    `removed ${countOf(Number(bytes), 'byte')} from ${file}, starting at line ${line}, because a crash occurred before they were synced`,
  'landing.altered': ({ runId, what, rows }) =>
    `run ${runId} rereads data that changed on disk${rows === undefined ? '' : `, and buys ${rows} export rows again if the budget allows it`}: ${what}`,
  'memory.damaged': ({ file, lines }) => `skipped ${file} line ${lines}, which is damaged; later runs write it again`,
  'schema.drift': ({ found }) =>
    `the responses differ from the API document in ${countOf((found as unknown[]).length, 'way')}; the schema_drift check lists them`,
  'run.machine': ({ memory, mostMemory, machineMemory, threads, freeDisk }) =>
    `DuckDB may use ${formatBytes(Number(memory))} of the ${formatBytes(Number(machineMemory))} of memory on this machine${mostMemory === memory ? '' : `, or ${formatBytes(Number(mostMemory))} if a statement needs more`}, on ${countOf(Number(threads), 'thread')}; ${formatBytes(Number(freeDisk))} of disk is free`,
  'price_spells.preparing': ({ changes }) =>
    `Preparing past prices from ${countOf(changes as bigint, 'change')}, once for each version of the lake`,
  attribution: ({ texts, metadata }) =>
    `The result contains data from open-data sources. Include ${countOf((texts as string[]).length, 'credit')} when you share it${metadata === undefined ? `: ${(texts as string[]).join(' · ')}` : `; see ${metadata}`}`,
  'spreads left out': ({ count }) =>
    `${countOf(count as bigint, 'spread')} omitted, because prices contradict each other or too few can be trusted; --grade C shows them`,
};

const tryAgain = (waitMs: unknown, attempt: unknown) =>
  `retrying in ${formatSeconds(Number(waitMs) / 1000)} (attempt ${Number(attempt) + 1})`;

/** Describes a log event in a sentence. Returns undefined if there is no sentence for the event. */
export const describeEvent = (event: string, facts: Facts): string | undefined => SENTENCES[event]?.(facts);
