import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Options } from 'yargs';
import { PricelakeError } from '../errors/errors.js';
import type { Io } from '../io/io.js';
import type { Cache } from '../remote/cached-lake.js';

/** Options of commands that read a lake from object storage. */
export const REMOTE_OPTIONS = {
  remote: {
    type: 'string',
    requiresArg: true,
    describe: 'Read the lake at this address (s3://bucket/prefix) instead of --lake, and fetch only what is needed',
  },
  cache: {
    type: 'string',
    requiresArg: true,
    describe: 'With --remote: folder for fetched files; default ~/.cache/pricelake',
  },
  'cache-size': {
    type: 'string',
    default: '10GB',
    requiresArg: true,
    describe: 'With --remote: largest size of that folder; the least recently used files are removed',
  },
} as const satisfies Record<string, Options>;

export interface RemoteArguments {
  remote?: string | undefined;
  cache?: string | undefined;
  'cache-size'?: string | undefined;
}

/** A remote to read, and the cache to read it through. */
export interface RemoteSource {
  address: string;
  cache: Cache;
  io: Io;
}

const UNITS: Record<string, number> = { MB: 1e6, GB: 1e9, TB: 1e12 };

/** Undefined without `--remote`. */
export function chooseRemote(
  { remote, cache, 'cache-size': size = '10GB' }: RemoteArguments,
  io: Io,
  env: NodeJS.ProcessEnv,
): RemoteSource | undefined {
  if (remote === undefined) return undefined;
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)(MB|GB|TB)$/.exec(size) ?? [];
  if (number === undefined)
    throw new PricelakeError('usage', `--cache-size ${size} is not a size such as 500MB or 10GB`);
  const folder = cache ?? join(env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'pricelake');
  return { address: remote, cache: { folder: resolve(folder), maxBytes: Number(number) * (UNITS[unit] ?? 0) }, io };
}
