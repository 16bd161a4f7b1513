import type { Options } from 'yargs';
import type { LogLevel } from '../io/io.js';

/** Options of every command. */
export const GLOBAL_OPTIONS = {
  json: { type: 'boolean', global: true, describe: 'Print one JSON object as the last line of stdout' },
  quiet: {
    alias: 'q',
    type: 'boolean',
    global: true,
    describe: 'Print only warnings, errors and requested results',
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
    describe: 'Use colours; default: only on a terminal. --no-color and NO_COLOR turn them off',
  },
} as const satisfies Record<string, Options & { type: string }>;

/** The least important events to log. */
export function chooseLogLevel(argv: { [flag: string]: unknown }, env: NodeJS.ProcessEnv): LogLevel {
  const verbose = Number(argv.verbose ?? 0);
  if (verbose >= 2) return 'trace';
  if (verbose === 1 || env.PRICELAKE_DEBUG === '1') return 'debug';
  return argv.quiet === true ? 'warn' : 'info';
}
