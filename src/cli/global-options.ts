import type { Options } from 'yargs';
import type { LogLevel } from '../io/io.js';

/** Options of every command. */
export const GLOBAL_OPTIONS = {
  json: { type: 'boolean', global: true, describe: 'Last line of stdout is one JSON object' },
  quiet: {
    alias: 'q',
    type: 'boolean',
    global: true,
    describe: 'Only warnings, errors, and results that were asked for',
  },
  verbose: {
    alias: 'v',
    count: true,
    type: 'count',
    global: true,
    describe: 'Log every step; twice (-vv), every call as well',
  },
  color: {
    type: 'boolean',
    global: true,
    describe: 'Use colours; without it on a terminal alone, and never with --no-color or NO_COLOR',
  },
} as const satisfies Record<string, Options & { type: string }>;

/** The slightest events that are logged. */
export function chooseLogLevel(argv: { [flag: string]: unknown }, env: NodeJS.ProcessEnv): LogLevel {
  const verbose = Number(argv.verbose ?? 0);
  if (verbose >= 2) return 'trace';
  if (verbose === 1 || env.PRICELAKE_DEBUG === '1') return 'debug';
  return argv.quiet === true ? 'warn' : 'info';
}
