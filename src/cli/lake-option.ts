import type { Options } from 'yargs';

/** `--lake DIR` of every command that reads a lake; `findTarget` says which one it is. */
export const LAKE_OPTION = {
  type: 'string',
  describe: 'Folder of the lake; default lake.path of the pipeline file, else ./lake',
  requiresArg: true,
} as const satisfies Options;

/** `--lake DIR` of commands that need a pipeline file. */
export const OWN_LAKE_OPTION = {
  type: 'string',
  describe: 'Folder of the lake, instead of lake.path',
  requiresArg: true,
} as const satisfies Options;

/** The pipeline file; `findPipeline` says which one it is. */
export const PIPELINE_POSITIONAL = {
  type: 'string',
  describe: 'Pipeline file (YAML); default PRICELAKE_PIPELINE, else prices.yaml in this folder',
} as const;
