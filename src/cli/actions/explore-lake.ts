import type { DuckDBConnection } from '@duckdb/node-api';
import type { Advice } from '../../check/finding.js';
import { loadChecks } from '../../check/load.js';
import type { WriteRows } from '../../explore/download.js';
import { startExplorer } from '../../explore/explorer.js';
import type { LakeSource } from '../../explore/snapshots.js';
import { readMemory } from '../../journal/memory.js';
import { type Lake, openLake } from '../../lake/lake.js';
import { readLock } from '../../lake/lock.js';
import type { Budget } from '../../plan/allowance.js';
import { inspectOpenRun } from '../../run/open/inspect-runs.js';
import { TABLE_NAMES } from '../../tables/table.js';
import type { Arguments, CommandContext } from '../command.js';
import type { explore } from '../commands/read.js';
import { chooseRemote, findTarget, type RemoteSource } from '../find-target.js';
import { toResultSet } from '../output/result-set.js';
import { writeFormat } from '../output/write-result.js';
import { untilStopped } from '../run-command.js';
import type { CliIo } from '../terminal-io.js';
import { formatBudget, formatLock, formatOpen } from './format-status.js';
import { readBudget } from './read-status.js';
import { DEFAULT_BUDGET } from './show-status.js';

const LOOPBACK = ['127.0.0.1', 'localhost', '::1'];

/** Serves until it is stopped, which is how a server finishes its work. */
export async function exploreLake(request: Arguments<typeof explore>, context: CommandContext): Promise<undefined> {
  const { io, output, json, signal } = context;
  const { host, port, list, currency, ownSite, memory, pictures = [] } = request;
  const { lake: path, settings } = await findTarget({ pipeline: request.pipeline, lake: request.lake });
  const remote = chooseRemote(request, io);
  const source = await openSource(path, remote);
  const tellNow = () =>
    remote === undefined ? tellWork(source.lake, settings?.budget ?? DEFAULT_BUDGET, io) : tellSource(remote);
  const watched = list === undefined ? undefined : { list, currency, ownSite };
  const explorer = await startExplorer(
    source,
    { host, port, memory, list: watched, writeRows, advice: await loadAdvice(), pictures: new Set(pictures), tellNow },
    io,
  );
  try {
    if (!LOOPBACK.includes(host))
      io.log('warn', 'explore.reachable', { host, note: 'anyone with the address below can read the lake' });
    await output.write(
      json
        ? `${JSON.stringify({ url: explorer.url })}\n`
        : `${explorer.url}\n\nOpen this address in a browser. It contains a secret, so don't share it. Press Ctrl-C to stop.\n`,
    );
    await untilStopped(signal);
  } finally {
    await explorer.close();
  }
  return undefined;
}

/** Tells of a run that has not ended, and of the month, in the words of `status`. */
async function tellWork(lake: Lake, budget: Budget, io: CliIo): Promise<string[]> {
  const lock = await readLock(lake, io);
  const open = await inspectOpenRun(lake, lock?.alive === true);
  const month = readBudget(await readMemory(lake), undefined, budget, io);
  return [open && formatOpen(open), lock && formatLock(lock), month && formatBudget(month)].flatMap(
    (line) => line ?? [],
  );
}

const tellSource = async ({ address }: RemoteSource): Promise<string[]> => [
  `read from ${address}, and looked at again once a minute`,
];

/** Reads from the shipped checks what to do about their findings. */
export async function loadAdvice(): Promise<ReadonlyMap<string, Advice>> {
  return new Map((await loadChecks()).map((check) => [check.name, check]));
}

/** A remote is read through the cache, which keeps the data files of all tables. */
async function openSource(path: string, remote: RemoteSource | undefined): Promise<LakeSource> {
  if (remote === undefined) return { lake: await openLake(path, { create: false }) };
  const { readRemote } = await import('../../remote/cached-lake.js');
  const bring = () =>
    readRemote(remote.address, remote.cache, remote.io, async (cached) => {
      await cached.bring(TABLE_NAMES);
      return cached.lake;
    });
  const lake = await bring();
  return {
    lake,
    refresh: async () => {
      await bring();
    },
  };
}

const writeRows: WriteRows = async ({ connection, sql, credits, scratch }, format, take) => {
  const relation = { db: readsFrom(connection), from: `(${sql}\n)`, scratch };
  const statement = await connection.prepare(format === 'parquet' ? `FROM (${sql}\n) LIMIT 0` : sql);
  const result = { ...toResultSet(await statement.stream(), [...credits]), relation };
  await writeFormat(result, format, undefined, { columns: undefined, write: take });
};

const readsFrom = (connection: DuckDBConnection) => ({
  row: async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjects()[0],
});
