import { CONTRACT_FORMATS, LOADER_FORMATS, WAREHOUSES } from '../../deliver/names.js';
import { TABLE_NAMES } from '../../tables/table.js';
import { declareCommand } from '../command.js';
import { choice, file, flag, folder, repeated, text } from '../parameter.js';
import { CREDITS_NOTE, LAKE, RESULT, SINCE_FORMS } from '../shared-options.js';

export const schema = declareCommand({
  name: 'schema',
  describe: 'Show the columns of the tables, or print their DDL',
  arguments: {
    table: choice(TABLE_NAMES, 'Only this table; with neither a table nor --format, the tables are listed'),
  },
  options: {
    format: choice(
      CONTRACT_FORMATS,
      'ddl: CREATE TABLE for DuckDB; json: JSON Schema of a row; spark: StructType as JSON; odcs: data contract; dbt: a source with tests; unity, glue, hive: catalog statements; default: markdown',
    ),
    base: text("The lake's address for dbt and catalogs, such as s3://bucket/lake"),
    output: file('Write to this file'),
  },
  examples: [
    ['pricelake schema price_spread', 'Columns and their meaning'],
    ['pricelake schema --format bigquery', 'CREATE TABLE for all tables, with exact types'],
    [
      'pricelake schema --format glue --base s3://bucket/lake',
      'Register all tables in the AWS Glue catalog with Athena',
    ],
    ['pricelake schema items --format arrow --output items.arrows', 'An Arrow stream with a schema but no rows'],
  ],
  notes:
    'Ids are int64, money is DECIMAL(18,4), times are UTC instants, and datasets and attribution are lists of strings. Schemas declare a key unless it would slow down loading or includes a nullable column.',
});

export const deliver = declareCommand({
  name: 'deliver',
  describe: 'Deliver rows, files or SQL to other systems',
  examples: [
    ['pricelake deliver changes items --since 1', 'The rows that changed after run 1'],
    ['pricelake deliver manifest items --since 1', 'The files that runs added and removed after run 1'],
    ['pricelake deliver load snowflake --since 1 --base @lake_stage', 'The SQL to update a copy that is at run 1'],
  ],
});

export const deliverChanges = declareCommand({
  name: 'deliver changes',
  describe: "Show a table's rows that are new, changed or gone since a run, a version or a time",
  arguments: { table: choice(TABLE_NAMES, 'Table of the lake', { isRequired: true }) },
  options: { since: text(SINCE_FORMS, { isRequired: true }), lake: LAKE, ...RESULT },
  examples: [
    ['pricelake deliver changes items --since 1', 'What changed in the runs after run 1'],
    [
      'pricelake deliver changes items --since 2026-11-22 --format parquet --output new.parquet',
      'What changed since midnight',
    ],
  ],
  notes: `These columns come first: change (new, changed or gone; written if it could be either new or changed), changed_columns, and for items also events, which lists their changes in order.
The command reads only files that runs added or replaced. lake.retention sets how long replaced files are kept. Without the replaced files, the command can't distinguish new items from changed ones, and fails for tables that runs rewrite.
${CREDITS_NOTE}`,
  aliases: { changes: {} },
});

export const deliverManifest = declareCommand({
  name: 'deliver manifest',
  describe: "List the files of a table's current version, or the files that runs added, for a warehouse loader",
  arguments: { table: choice(TABLE_NAMES, 'Table of the lake', { isRequired: true }) },
  options: {
    lake: LAKE,
    format: choice(
      ['json', ...LOADER_FORMATS],
      'json with rows, bytes, checksums and credits; a Redshift manifest; FILES clauses for Snowflake; URI lists for BigQuery; or one path per line',
      { default: 'json' },
    ),
    base: text("The lake's address for the loader, such as s3://bucket/lake; default: its folder"),
    since: text(`Only list files added since then, with their commits. ${SINCE_FORMS}`),
    output: file('Write the manifest to this file'),
  },
  examples: [
    [
      'pricelake deliver manifest items --format list',
      'List exactly the files of the newest version, one path per line',
    ],
    [
      'pricelake deliver manifest items --format redshift --base s3://bucket/lake --output items.manifest',
      'For COPY … FORMAT AS PARQUET MANIFEST',
    ],
    ['pricelake deliver manifest items --since 1', 'Files added and removed by each run after run 1'],
  ],
  notes:
    'When you share data from open-data websites, include their license texts. They are in the JSON output, on stderr for the other formats, and in every file.',
  aliases: { manifest: {} },
});

export const deliverLoad = declareCommand({
  name: 'deliver load',
  describe: 'Write the SQL that updates a copy in a warehouse to the newest run, or load PostgreSQL directly',
  arguments: { warehouse: choice(WAREHOUSES, 'Warehouse that holds the copy', { isRequired: true }) },
  options: {
    since: text("The copy's current run: 41, or its run_id", { excludes: ['full'] }),
    full: flag('Load everything'),
    table: repeated(choice(TABLE_NAMES, 'Only this table; can be repeated')),
    schema: text('Schema of the copy, such as analytics or project.dataset'),
    base: text("The lake's address for the warehouse: s3://bucket/lake, gs://bucket/lake or a Snowflake @stage"),
    manifests: folder('Redshift: folder for the manifests that COPY reads; copy it to BASE/_manifests'),
    execute: flag("PostgreSQL: load directly, starting from the copy's current run"),
    url: text('PostgreSQL: postgres://user@host/database; the password comes from PGPASSWORD or ~/.pgpass'),
    output: file('Write the statements to this file'),
    lake: LAKE,
  },
  examples: [
    [
      'pricelake deliver load postgres --execute --schema prices',
      "Load everything that is new since the copy's run, in one transaction",
    ],
    [
      'pricelake deliver load snowflake --since 1 --base @lake_stage',
      'The SQL to update a copy from run 1 to the newest run',
    ],
    [
      'pricelake deliver load redshift --full --base s3://bucket/lake --manifests manifests',
      'The SQL and manifests to load everything',
    ],
  ],
  notes: `The copy's table pricelake_loads records the current run of each table. Running a script twice, or on a copy at a different run, changes nothing. --execute rejects a copy of another lake, a copy at a later run, and a copy whose rows differ from the lake's; with --full, it replaces such a copy.
Tests run --execute against a PostgreSQL server. The statements for Redshift, Snowflake, BigQuery and Databricks have never been run on these warehouses. They have only been checked with a parser that supports few options of COPY and LOAD DATA.`,
  aliases: { load: {} },
});
