import type { Options } from 'yargs';

/** `--since` of the commands that show what changed. */
export const SINCE_OPTION = {
  type: 'string',
  requiresArg: true,
  describe:
    'A run (41, or its run_id), a version of the table (v14) or a time in UTC (2026-11-22T08:00:00Z); 0 means from the beginning',
} as const satisfies Options;
