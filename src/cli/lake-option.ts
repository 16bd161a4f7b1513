import type { Options } from 'yargs';

/** `--lake DIR` of every command that reads a lake. */
export const LAKE_OPTION = {
  type: 'string',
  default: './lake',
  describe: 'Folder of the lake',
  requiresArg: true,
} as const satisfies Options;
