import type { Argv, CommandModule } from 'yargs';
import { TABLE_NAMES, type TableName } from '../../tables/table.js';
import { LAKE_OPTION } from '../lake-option.js';
import { runCommand } from '../run-command.js';
import { SINCE_OPTION } from '../since-option.js';

const FORMATS = ['json', 'redshift', 'snowflake', 'bigquery', 'list'] as const;

interface ManifestArguments {
  table: TableName;
  lake?: string;
  format: (typeof FORMATS)[number];
  base?: string;
  since?: string;
  output?: string;
}

export const manifestCommand: CommandModule<object, ManifestArguments> = {
  command: 'manifest <table>',
  describe: "List the files of a table's current version, or those that runs added, for a warehouse's loader",
  builder: (yargs: Argv) =>
    yargs
      .positional('table', { choices: TABLE_NAMES, demandOption: true, describe: 'Table of the lake' })
      .option('lake', LAKE_OPTION)
      .option('format', {
        choices: FORMATS,
        default: 'json',
        describe:
          'json with rows, bytes, checksums and credits; a Redshift manifest; FILES clauses for Snowflake; lists of URIs for BigQuery; or one path a line',
      })
      .option('base', {
        type: 'string',
        requiresArg: true,
        describe: 'Address of the lake for the loader, such as s3://bucket/lake; default its folder',
      })
      .option('since', {
        ...SINCE_OPTION,
        describe: `Only files added since then, with the commits. ${SINCE_OPTION.describe}`,
      })
      .option('output', { type: 'string', requiresArg: true, describe: 'Write the manifest to this file' })
      .example('$0 manifest items --format list', 'One path a line: exactly the files of the newest version')
      .example(
        '$0 manifest items --format redshift --base s3://bucket/lake --output items.manifest',
        'For COPY … FORMAT AS PARQUET MANIFEST',
      )
      .example('$0 manifest items --since 41', 'Files that each run after run 41 added and removed')
      .epilogue(
        'Pass the licence texts of open-data websites on with their data: they are in the JSON, on stderr for the other formats, and in every file.',
      ) as Argv<ManifestArguments>,
  handler: (argv) =>
    runCommand(argv, async (context) => (await import('../actions/write-manifest.js')).writeManifest(argv, context)),
};
