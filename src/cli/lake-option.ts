import type { Options } from 'yargs';

/** `--lake DIR` of every command that reads a lake. */
export const LAKE_OPTION = {
  type: 'string',
  default: './lake',
  describe: 'Folder of the lake',
  requiresArg: true,
} as const satisfies Options;

/** `--lake DIR` of commands that take a pipeline file as well. */
export const LAKE_OR_PIPELINE_OPTION = {
  type: 'string',
  describe: 'Folder of the lake; default lake.path of the pipeline file, else ./lake',
  requiresArg: true,
} as const satisfies Options;

export const PIPELINE_POSITIONAL = {
  type: 'string',
  describe: 'Pipeline file (YAML) with the lake and its settings; secrets need not be set',
} as const;
