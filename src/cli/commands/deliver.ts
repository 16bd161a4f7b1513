import { CONTRACT_FORMATS, LOADER_FORMATS, WAREHOUSES } from '../../deliver/names.js';
import { TABLE_NAMES } from '../../tables/table.js';
import { declareCommand } from '../command.js';
import { choice, file, flag, folder, repeated, text } from '../parameter.js';
import { CREDITS_NOTE, LAKE, RESULT, SINCE_FORMS } from '../shared-options.js';

export const schema = declareCommand({
  name: 'schema',
  describe: 'Show the columns of the tables, or print their DDL',
  arguments: { table: choice(TABLE_NAMES, 'Only this table; without it, and without --format, the tables are listed') },
  options: {
    format: choice(
      CONTRACT_FORMATS,
      'ddl: CREATE TABLE for DuckDB; json: JSON Schema of a row; spark: StructType as JSON; odcs: data contract; dbt: a source with tests; unity, glue, hive: statements of a catalog; default markdown',
    ),
    base: text('Address of the lake for dbt and catalogs, such as s3://bucket/lake'),
    output: file('Write to this file'),
  },
  examples: [
    ['pricelake schema price_spread', 'Columns and their meaning'],
    ['pricelake schema --format bigquery', 'CREATE TABLE for all tables, with exact types'],
    [
      'pricelake schema --format glue --base s3://bucket/lake',
      'Register all tables in the AWS Glue catalog with Athena',
    ],
    ['pricelake schema items --format arrow --output items.arrows', 'An Arrow stream with no rows'],
  ],
  notes:
    'Ids are int64, money is DECIMAL(18,4), times are instants in UTC, and datasets and attribution are lists of text. Schemas declare a key unless it would slow down loading, or part of it can be NULL.',
});

export const deliver = declareCommand({
  name: 'deliver',
  describe: 'Bring rows, files or SQL to other systems',
  examples: [
    ['pricelake deliver changes items --since 1', 'The rows that changed after run 1'],
    ['pricelake deliver manifest items --since 1', 'The files that runs added and removed after run 1'],
    ['pricelake deliver load snowflake --since 1 --base @lake_stage', 'The SQL for a copy at run 1'],
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
  notes: `These columns come first: change (new, changed or gone; written if it is either new or changed), changed_columns, and for items events: what happened to them in between.
The command reads only files that runs added or replaced. lake.retention sets how long replaced files are kept. Without them, the command can't tell new rows of items from changed ones, and fails for tables that runs rewrite.
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
      'json with rows, bytes, checksums and credits; a Redshift manifest; FILES clauses for Snowflake; lists of URIs for BigQuery; or one path per line',
      { default: 'json' },
    ),
    base: text('Address of the lake as the loader sees it, such as s3://bucket/lake; default its folder'),
    since: text(`Only files added since then, with their commits. ${SINCE_FORMS}`),
    output: file('Write the manifest to this file'),
  },
  examples: [
    ['pricelake deliver manifest items --format list', 'One path per line: exactly the files of the newest version'],
    [
      'pricelake deliver manifest items --format redshift --base s3://bucket/lake --output items.manifest',
      'For COPY … FORMAT AS PARQUET MANIFEST',
    ],
    ['pricelake deliver manifest items --since 1', 'Files added and removed by each run after run 1'],
  ],
  notes:
    'When you pass on data of open-data websites, include their licence texts. They are in the JSON output, on stderr for the other formats, and in every file.',
  aliases: { manifest: {} },
});

export const deliverLoad = declareCommand({
  name: 'deliver load',
  describe: 'Write the SQL that brings a copy in a warehouse to the newest run, or load PostgreSQL directly',
  arguments: { warehouse: choice(WAREHOUSES, 'Warehouse that holds the copy', { isRequired: true }) },
  options: {
    since: text("The copy's current run: 41, or its run_id", { excludes: ['full'] }),
    full: flag('Load everything'),
    table: repeated(choice(TABLE_NAMES, 'Only this table; can be repeated')),
    schema: text('Schema of the copy, such as analytics or project.dataset'),
    base: text(
      'Address of the lake as the warehouse sees it: s3://bucket/lake, gs://bucket/lake or a Snowflake @stage',
    ),
    manifests: folder('Redshift: folder for the manifests that COPY reads; copy it to BASE/_manifests'),
    execute: flag("PostgreSQL: load directly, starting from the copy's current run"),
    url: text('PostgreSQL: postgres://user@host/database; the password comes from PGPASSWORD or ~/.pgpass'),
    output: file('Write the statements to this file'),
    lake: LAKE,
  },
  examples: [
    ['pricelake deliver load postgres --execute --schema prices', 'Load what the copy lacks, in one transaction'],
    ['pricelake deliver load snowflake --since 1 --base @lake_stage', 'Statements from run 1 to the newest'],
    [
      'pricelake deliver load redshift --full --base s3://bucket/lake --manifests manifests',
      'Statements and manifests that load everything',
    ],
  ],
  notes: `The copy's table pricelake_loads records the current run of each table. Running a script twice, or on a copy at a different run, changes nothing. --execute refuses a copy of another lake, a copy at a later run, and a copy whose rows differ from the lake's; --full replaces it.
Tests run --execute against a PostgreSQL server. The statements for Redshift, Snowflake, BigQuery and Databricks have never run on these warehouses: only a parser has checked them, and it knows few options of COPY and LOAD DATA.`,
  aliases: { load: {} },
});
