import type { Argv, CommandModule } from 'yargs';
import { WAREHOUSES, type Warehouse } from '../../deliver/warehouse-names.js';
import { TABLE_NAMES, type TableName } from '../../tables/table.js';
import { LAKE_OPTION } from '../lake-option.js';
import { runCommand } from '../run-command.js';

interface LoadArguments {
  warehouse: Warehouse;
  since: string | undefined;
  full: boolean | undefined;
  table: TableName[] | undefined;
  schema: string | undefined;
  base: string | undefined;
  execute: boolean;
  url: string | undefined;
  output: string | undefined;
  manifests: string | undefined;
  lake: string | undefined;
}

export const loadCommand: CommandModule<object, LoadArguments> = {
  command: 'load <warehouse>',
  describe: 'Write the statements that bring a copy in a warehouse to the newest run, or load PostgreSQL',
  builder: (yargs: Argv) =>
    yargs
      .positional('warehouse', { choices: WAREHOUSES, demandOption: true, describe: 'Warehouse of the copy' })
      .option('since', {
        type: 'string',
        requiresArg: true,
        conflicts: 'full',
        describe: 'The run that the copy is at: 41, or its run_id',
      })
      // A default would count as given, and --since excludes it.
      .option('full', { type: 'boolean', describe: 'Load everything' })
      .option('table', {
        choices: TABLE_NAMES,
        type: 'string',
        array: true,
        nargs: 1,
        describe: 'Only this table; can be repeated',
      })
      .option('schema', {
        type: 'string',
        requiresArg: true,
        describe: 'Schema of the copy, such as analytics or project.dataset',
      })
      .option('base', {
        type: 'string',
        requiresArg: true,
        describe: 'Address of the lake for the warehouse: s3://bucket/lake, gs://bucket/lake or a Snowflake @stage',
      })
      .option('manifests', {
        type: 'string',
        requiresArg: true,
        describe: 'Redshift: folder for the manifests that COPY reads; copy it to BASE/_manifests',
      })
      .option('execute', {
        type: 'boolean',
        default: false,
        describe: 'PostgreSQL: load, from the run that the copy is at',
      })
      .option('url', {
        type: 'string',
        requiresArg: true,
        describe: 'PostgreSQL: postgres://user@host/database; the password comes from PGPASSWORD or ~/.pgpass',
      })
      .option('output', { type: 'string', requiresArg: true, describe: 'Write the statements to this file' })
      .option('lake', LAKE_OPTION)
      .example('$0 load postgres --execute --schema prices', 'Load what the copy lacks, in one transaction')
      .example('$0 load snowflake --since 41 --base @lake_stage', 'Statements from run 41 to the newest')
      .example(
        '$0 load redshift --full --base s3://bucket/lake --manifests manifests',
        'Statements and manifests that load everything',
      )
      .epilogue(
        `Table pricelake_loads of the copy records the run that each table is at. Running a script again, or on a copy of another run, changes nothing. --execute refuses a copy of another lake or of a later run, and one with other rows than the lake; --full replaces it.
The tests load a PostgreSQL server with --execute. The statements for Redshift, Snowflake, BigQuery and Databricks were never run on these warehouses: a parser checked them, and it knows few options of COPY and LOAD DATA.`,
      ) as Argv<LoadArguments>,
  handler: (argv) =>
    runCommand(argv, async (context) => (await import('../actions/load-warehouse.js')).loadWarehouse(argv, context)),
};
