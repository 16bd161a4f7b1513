import { TABLE_NAMES } from '../../tables/table.js';
import { declareCommand } from '../command.js';
import { choice, file, text } from '../parameter.js';
import { LAKE, SINCE_FORMS } from '../shared-options.js';

export const manifest = declareCommand({
  name: 'manifest',
  describe: "List the files of a table's current version, or those that runs added, for a warehouse's loader",
  arguments: { table: choice(TABLE_NAMES, 'Table of the lake', { isRequired: true }) },
  options: {
    lake: LAKE,
    format: choice(
      ['json', 'redshift', 'snowflake', 'bigquery', 'list'],
      'json with rows, bytes, checksums and credits; a Redshift manifest; FILES clauses for Snowflake; lists of URIs for BigQuery; or one path a line',
      { default: 'json' },
    ),
    base: text('Address of the lake for the loader, such as s3://bucket/lake; default its folder'),
    since: text(`Only files added since then, with the commits. ${SINCE_FORMS}`),
    output: file('Write the manifest to this file'),
  },
  examples: [
    ['pricelake manifest items --format list', 'One path a line: exactly the files of the newest version'],
    [
      'pricelake manifest items --format redshift --base s3://bucket/lake --output items.manifest',
      'For COPY … FORMAT AS PARQUET MANIFEST',
    ],
    ['pricelake manifest items --since 41', 'Files that each run after run 41 added and removed'],
  ],
  notes:
    'Pass the licence texts of open-data websites on with their data: they are in the JSON, on stderr for the other formats, and in every file.',
});
