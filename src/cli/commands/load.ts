import { WAREHOUSES } from '../../deliver/warehouse-names.js';
import { TABLE_NAMES } from '../../tables/table.js';
import { declareCommand } from '../command.js';
import { choice, file, flag, folder, repeated, text } from '../parameter.js';
import { LAKE } from '../shared-options.js';

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
