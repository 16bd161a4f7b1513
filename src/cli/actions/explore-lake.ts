import type { DuckDBConnection } from '@duckdb/node-api';
import type { ReadingSettings } from '../../config/pipeline-schema.js';
import type { WriteRows } from '../../explore/download.js';
import { startExplorer } from '../../explore/explorer.js';
import type { CopyNow } from '../../explore/now.js';
import type { LakeSource } from '../../explore/snapshots.js';
import { openLake } from '../../lake/lake.js';
import type { Lake } from '../../tables/layout.js';
import type { Arguments, CommandContext, CommandReport } from '../command.js';
import type { explore } from '../commands/read.js';
import { chooseRemote, findTarget } from '../find-target.js';
import { fetchRemote, joinLakes, listLakes, type RemoteSource } from '../join-lakes.js';
import { loadAdvice } from '../load-advice.js';
import { readStatement } from '../output/result-set.js';
import { writeFormat } from '../output/write-result.js';
import { untilStopped } from '../run-command.js';
import type { CliIo } from '../terminal-io.js';
import { DEFAULT_BUDGET } from './show-status.js';
import { compareRead, tellJoined, tellLocal, tellRemote, watchOwnRemote, withoutMessages } from './tell-copy.js';

const LOOPBACK: readonly [string, ...string[]] = ['127.0.0.1', 'localhost', '::1'];
const MEMORY = '250MB';
const OWN_NOTE = "Open this address in a browser. It contains a secret, so don't share it.";
const SHARED_NOTE =
  "Anyone with this address can read these pages until you stop the server, but can't change anything.";

/**
 * Writes the pages to a file, or serves them until a signal stops the server. The command also succeeds if a signal
 * stops it.
 */
export async function exploreLake(
  request: Arguments<typeof explore>,
  context: CommandContext,
): Promise<CommandReport | undefined> {
  if (request.output === undefined) return servePages(request, context);
  const { writeReport } = await import('./write-report.js');
  return writeReport({ ...request, output: request.output }, context);
}

async function servePages(request: Arguments<typeof explore>, context: CommandContext): Promise<undefined> {
  const { io, output, json, signal } = context;
  const {
    host = LOOPBACK[0],
    port = 0,
    list,
    currency,
    ownSite,
    memory = MEMORY,
    pictures = [],
    share: isShared = false,
  } = request;
  const { source, tellNow } = await chooseSource(request, context);
  const watched = list === undefined ? undefined : { list, currency, ownSite };
  const explorer = await startExplorer(
    source,
    {
      ...{ host, port, memory, list: watched, writeRows, pictures: new Set(pictures), isShared },
      advice: await loadAdvice(),
      tellNow: isShared ? async () => hidePaths(await tellNow()) : tellNow,
    },
    io,
  );
  try {
    if (!LOOPBACK.includes(host))
      io.log('warn', 'explore.reachable', { host, note: 'anyone with the address below can read the lake' });
    await output.write(
      json
        ? `${JSON.stringify({ url: explorer.url })}\n`
        : `${explorer.url}\n\n${isShared ? SHARED_NOTE : OWN_NOTE} Press Ctrl-C to stop.\n`,
    );
    await untilStopped(signal);
  } finally {
    await explorer.close();
  }
  return undefined;
}

/**
 * Removes log lines and messages, which may contain file paths, because anyone may read the pages of a shared server.
 */
const hidePaths = ({ tries, remote }: CopyNow): CopyNow => ({
  lines: [],
  tries: withoutMessages(tries),
  remote: remote.kind === 'unread' ? { kind: 'unasked' } : remote,
});

interface Chosen {
  source: LakeSource;
  tellNow: () => Promise<CopyNow>;
}

async function chooseSource(request: Arguments<typeof explore>, context: CommandContext): Promise<Chosen> {
  const { io } = context;
  const lakes = listLakes(request.lake);
  if (lakes.length > 1) return { source: await openJoined(request, context), tellNow: () => tellJoined(lakes, io) };
  const { lake: path, settings } = await findTarget({ pipeline: request.pipeline, lake: lakes[0] });
  const remote = chooseRemote(request, io);
  const source = await openSource(path, remote);
  return { source, tellNow: await chooseTeller({ path, lake: source.lake, remote, settings }, io) };
}

interface Shown {
  /** The lake's folder on this machine. */
  path: string;
  lake: Lake;
  remote: RemoteSource | undefined;
  settings: ReadingSettings | undefined;
}

async function chooseTeller({ path, lake, remote, settings }: Shown, io: CliIo): Promise<() => Promise<CopyNow>> {
  if (remote !== undefined) {
    const { address } = remote;
    return async () => ({ ...(await tellRemote(remote, lake)), remote: await compareRead(path, lake, address) });
  }
  const look = await watchOwnRemote(lake, settings?.lake.remote, io);
  return async () => ({ ...(await tellLocal(lake, settings?.budget ?? DEFAULT_BUDGET, io)), remote: await look() });
}

/** Opens several lakes as one. If any of them has published a run, `refresh` builds the union again in a new folder. */
export async function openJoined(
  request: Pick<Arguments<typeof explore>, 'lake' | 'cache'>,
  context: Pick<CommandContext, 'io' | 'signal'>,
): Promise<LakeSource> {
  const join = async () => openLake((await joinLakes(request, context)) ?? '', { create: false });
  let lake = await join();
  return {
    get lake() {
      return lake;
    },
    refresh: async () => {
      lake = await join();
    },
  };
}

/** Opens a lake. For a remote lake, downloads the data files of all tables to the cache. */
export async function openSource(path: string, remote: RemoteSource | undefined): Promise<LakeSource> {
  if (remote === undefined) return { lake: await openLake(path, { create: false }) };
  const lake = await fetchRemote(remote);
  return {
    lake,
    refresh: async () => {
      await fetchRemote(remote);
    },
  };
}

const writeRows: WriteRows = async ({ connection, sql, credits, scratch }, format, take) => {
  const relation = { db: readsFrom(connection), from: `(${sql}\n)`, scratch };
  const statement = await connection.prepare(sql);
  try {
    const result = await readStatement({ connection, statement, from: relation.from }, { format, isFile: false });
    await writeFormat({ ...result, credits: [...credits], relation }, format, undefined, {
      columns: undefined,
      write: take,
    });
  } finally {
    statement.destroySync(); // otherwise the statement keeps its result until it is garbage-collected
  }
};

const readsFrom = (connection: DuckDBConnection) => ({
  row: async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjects()[0],
});
