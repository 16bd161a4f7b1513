import { PricelakeError } from '../io/errors.js';
import { type LogEntry, readEntriesBackwards } from '../lake/log-entries.js';
import { readTable } from '../lake/read.js';
import type { Lake } from '../tables/layout.js';
import type { TableName, TableState } from '../tables/table.js';

/** The starting point for changes: the end of a run, a version of the table, or a time. */
export type Since =
  | { kind: 'run'; number: bigint; runId?: string }
  | { kind: 'version'; version: bigint }
  | { kind: 'time'; at: Date };

const INT64_DIGITS = 18;

/**
 * Parses `41` or `000041-20261122T080000Z` as a run, `v14` as a version, and `2026-11-22T08:00:00Z` or `2026-11-22` as
 * a UTC time.
 * @throws PricelakeError `usage` for any other text
 */
export function parseSince(text: string): Since {
  const run = /^(\d+)(-\d{8}T\d{6}Z)?$/.exec(text);
  if (run?.[1] !== undefined && run[1].length <= INT64_DIGITS) {
    return { kind: 'run', number: BigInt(run[1]), ...(run[2] === undefined ? {} : { runId: text }) };
  }
  const version = /^v(\d{1,18})$/.exec(text)?.[1];
  if (version !== undefined) return { kind: 'version', version: BigInt(version) };
  const isTime = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?Z)?$/.test(text);
  const at = new Date(text);
  if (isTime && !Number.isNaN(at.getTime())) return { kind: 'time', at };
  throw new PricelakeError('usage', `--since ${text} is not a run (41), a table version (v14) or a UTC time`, {
    hint: '`pricelake query "SELECT run_number, run_id, finished_at FROM runs"` lists the runs.',
  });
}

/**
 * Returns the table's version at `since` (-1n if the table didn't exist yet), and the later commits, oldest first.
 * @throws PricelakeError `usage` if the log doesn't reach back to `since`, or the run or version doesn't exist
 */
export async function readCommitsSince(
  lake: Lake,
  table: TableName,
  since: Since,
): Promise<{ version: bigint; entries: LogEntry[] }> {
  const newest = await readTable(lake, table);
  await refuseFuture(lake, newest, since);
  const behind: LogEntry[] = [];
  // Compactions belong to no run. They are included only if they come after a run that is later than `since`.
  const moved: LogEntry[] = [];
  for await (const entry of readEntriesBackwards(lake, table)) {
    if (isBefore(entry, since)) {
      refuseOtherRun(entry, since);
      return { version: (behind.at(-1)?.version ?? newest.version + 1n) - 1n, entries: behind.reverse() };
    }
    moved.push(entry);
    if (since.kind === 'run' && entry.runNumber === undefined && !entry.changesRows) continue;
    behind.push(...moved.splice(0));
  }
  behind.push(...moved);
  const first = behind.at(-1)?.version ?? 0n;
  if (first === 0n) return { version: -1n, entries: behind.reverse() };
  throw new PricelakeError('usage', `the log of ${table} only goes back to version ${first}`, {
    hint: 'Use a later run, or load everything with `pricelake deliver load … --full`.',
  });
}

function isBefore(entry: LogEntry, since: Since): boolean {
  switch (since.kind) {
    case 'run':
      return entry.runNumber !== undefined && entry.runNumber <= since.number;
    case 'version':
      return entry.version <= since.version;
    case 'time':
      return entry.at !== undefined && entry.at <= since.at.getTime();
  }
}

async function refuseFuture(lake: Lake, { table, version }: TableState, since: Since): Promise<void> {
  if (since.kind === 'version' && since.version > version) {
    throw new PricelakeError('usage', `${table} has no version ${since.version}; its newest version is ${version}`);
  }
  if (since.kind !== 'run') return;
  // Reads the newest run from the `runs` table, which every published run writes.
  const { run = 0n } = (await readTable(lake, 'runs')).applied;
  if (since.number > run) {
    throw new PricelakeError('usage', `the lake has no run ${since.number}; its newest run is ${run}`);
  }
}

function refuseOtherRun({ runNumber, runId }: LogEntry, since: Since): void {
  if (since.kind !== 'run' || since.runId === undefined || runNumber !== since.number || runId === since.runId) return;
  throw new PricelakeError('usage', `run ${since.number} of this lake is ${runId}, not ${since.runId}`, {
    hint: 'The copy is from another lake. Load everything with `pricelake deliver load … --full`.',
  });
}
