import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';
import { isAddress } from '../io/path-fault.js';
import { openLake } from '../lake/lake.js';
import type { Database } from '../sql/connection.js';
import type { Lake } from '../tables/layout.js';
import { TABLE_NAMES } from '../tables/table.js';
import type { Cache } from '../wings/remote/index.js';
import type { CommandContext } from './command.js';

export interface RemoteSource {
  address: string;
  cache: Cache;
  io: Io;
}

/** The value of `--lake`: one folder, or several folders whose lakes are combined into one. */
export type NamedLakes = string | readonly string[];

interface LakeArguments {
  lake?: NamedLakes | undefined;
  cache?: string | undefined;
  cacheSize?: number | undefined;
  remote?: string | undefined;
  asOf?: number | undefined;
}

/** The default of `--cache-size`, in bytes. */
export const CACHE_BYTES = 10e9;

/** Returns the cache folder; by default ~/.cache/pricelake. */
export function findCache(named: string | undefined): string {
  return resolve(named ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'pricelake'));
}

/**
 * Returns the folder to read. For several lakes, this is a folder in the cache that holds their union. Returns
 * undefined without `--lake`.
 * @throws PricelakeError `usage` if several lakes are combined with `--remote` or `--as-of`
 */
export async function joinLakes(
  request: LakeArguments,
  context: Pick<CommandContext, 'io' | 'signal'>,
): Promise<string | undefined> {
  const lakes = listLakes(request.lake);
  if (lakes.length <= 1) return lakes[0];
  refuseTogether(request);
  const [cache, maxBytes] = [findCache(request.cache), request.cacheSize ?? CACHE_BYTES];
  const opened: Lake[] = [];
  for (const path of lakes) {
    const remote = isAddress(path) ? { address: path, cache: { folder: cache, maxBytes }, io: context.io } : undefined;
    opened.push(remote === undefined ? await openLake(path, { create: false }) : await fetchRemote(remote));
  }
  const { openUnion } = await import('../union/open-union.js');
  return (await openUnion(opened, { cache, ...context })).root;
}

/** Downloads all files of a remote lake into the cache. */
export async function fetchRemote({ address, cache, io }: RemoteSource): Promise<Lake> {
  const { readRemote } = await import('../wings/remote/index.js');
  return readRemote(address, cache, io, async (cached) => {
    await cached.bring(TABLE_NAMES);
    return cached.lake;
  });
}

/**
 * Describes the newest run of each lake in a union, so that a result can state the runs on which it is based. Returns
 * an empty object for a single lake.
 */
export async function describeLakes(
  lake: NamedLakes | undefined,
  db: Pick<Database, 'row'>,
): Promise<{ lakes?: string }> {
  if (listLakes(lake).length <= 1) return {};
  const row = await db.row('SELECT reason FROM runs');
  return { lakes: String(row?.reason) };
}

export const listLakes = (lake: NamedLakes | undefined): readonly string[] =>
  lake === undefined ? [] : typeof lake === 'string' ? [lake] : lake;

function refuseTogether({ remote, asOf }: LakeArguments): void {
  if (remote !== undefined) {
    const hint = 'Remove --remote, or pass a single --lake.';
    throw new PricelakeError('usage', "--remote can't be used with more than one --lake", { hint });
  }
  if (asOf !== undefined) {
    const hint = 'Each lake has its own runs, so pass a single --lake.';
    throw new PricelakeError('usage', "--as-of can't be used with more than one --lake", { hint });
  }
}
