import { CONTRACT_FORMATS, LOADER_FORMATS, WAREHOUSES } from '../../deliver/names.js';
import { TABLE_NAMES } from '../../tables/table.js';
import { declareCommand } from '../command.js';
import { choice, file, flag, folder, repeated, text } from '../parameter.js';
import { CREDITS_NOTE, LAKE, RESULT, SINCE_FORMS } from '../shared-options.js';

export const schema = declareCommand({
  name: 'schema',
  describe: 'Show columns, types and keys of the tables, or print them for another system',
  arguments: { table: choice(TABLE_NAMES, 'One table; default all') },
  options: {
    format: choice(
      CONTRACT_FORMATS,
      'ddl: CREATE TABLE for DuckDB; json: JSON Schema of a row; spark: StructType as JSON; odcs: data contract',
      { default: 'markdown' },
    ),
    output: file('Write to this file'),
  },
  examples: [
    ['pricelake schema price_spread', 'Columns with their meaning'],
    ['pricelake schema --format bigquery', 'CREATE TABLE for all tables, with exact types'],
    ['pricelake schema items --format arrow --output items.arrows', 'An Arrow stream without rows'],
  ],
  notes:
    'Ids are int64, money is DECIMAL(18,4), times are instants in UTC, datasets and attribution are lists of text. Keys are declared unless they would slow down loading, or a part of them can be NULL.',
});

export const changes = declareCommand({
  name: 'changes',
  describe: 'Show the rows of a table that are new, changed or gone since a run, a version or a time',
  arguments: { table: choice(TABLE_NAMES, 'Table of the lake', { isRequired: true }) },
  options: { since: text(SINCE_FORMS, { isRequired: true }), lake: LAKE, ...RESULT },
  examples: [
    ['pricelake changes items --since 41', 'What runs after run 41 changed'],
    ['pricelake changes items --since 2026-11-22 --format parquet --output new.parquet', 'What changed since midnight'],
  ],
  notes: `Columns before those of the table: change (new, changed or gone; written if it is new or changed), changed_columns, and for items events: what happened to them meanwhile.
Only files that runs added or replaced are read. lake.retention says how long replaced files are kept. Without them, the command cannot tell new rows of items from changed ones, and fails for tables that runs rewrite.
${CREDITS_NOTE}`,
});

export const manifest = declareCommand({
  name: 'manifest',
  describe: "List the files of a table's current version, or those that runs added, for a warehouse's loader",
  arguments: { table: choice(TABLE_NAMES, 'Table of the lake', { isRequired: true }) },
  options: {
    lake: LAKE,
    format: choice(
      ['json', ...LOADER_FORMATS],
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

export const load = declareCommand({
  name: 'load',
  describe: 'Write the statements that bring a copy in a warehouse to the newest run, or load PostgreSQL',
  arguments: { warehouse: choice(WAREHOUSES, 'Warehouse of the copy', { isRequired: true }) },
  options: {
    since: text('The run that the copy is at: 41, or its run_id', { excludes: ['full'] }),
    full: flag('Load everything'),
    table: repeated(choice(TABLE_NAMES, 'Only this table; can be repeated')),
    schema: text('Schema of the copy, such as analytics or project.dataset'),
    base: text('Address of the lake for the warehouse: s3://bucket/lake, gs://bucket/lake or a Snowflake @stage'),
    manifests: folder('Redshift: folder for the manifests that COPY reads; copy it to BASE/_manifests'),
    execute: flag('PostgreSQL: load, from the run that the copy is at'),
    url: text('PostgreSQL: postgres://user@host/database; the password comes from PGPASSWORD or ~/.pgpass'),
    output: file('Write the statements to this file'),
    lake: LAKE,
  },
  examples: [
    ['pricelake load postgres --execute --schema prices', 'Load what the copy lacks, in one transaction'],
    ['pricelake load snowflake --since 41 --base @lake_stage', 'Statements from run 41 to the newest'],
    [
      'pricelake load redshift --full --base s3://bucket/lake --manifests manifests',
      'Statements and manifests that load everything',
    ],
  ],
  notes: `Table pricelake_loads of the copy records the run that each table is at. Running a script again, or on a copy of another run, changes nothing. --execute refuses a copy of another lake or of a later run, and one with other rows than the lake; --full replaces it.
The tests load a PostgreSQL server with --execute. The statements for Redshift, Snowflake, BigQuery and Databricks were never run on these warehouses: a parser checked them, and it knows few options of COPY and LOAD DATA.`,
});
