import type { Argv, CommandModule } from 'yargs';
import { CONTRACT_FORMATS, type ContractFormat } from '../../contracts/contract-formats.js';
import { TABLE_NAMES, type TableName } from '../../tables/table.js';
import { runCommand } from '../run-command.js';

interface SchemaArguments {
  table: TableName | undefined;
  format: ContractFormat;
  output: string | undefined;
}

export const schemaCommand: CommandModule<object, SchemaArguments> = {
  command: 'schema [table]',
  describe: 'Show columns, types and keys of the tables, or print them for another system',
  builder: (args: Argv) =>
    args
      .positional('table', { choices: TABLE_NAMES, describe: 'One table; default all' })
      .option('format', {
        choices: CONTRACT_FORMATS,
        default: 'markdown',
        describe:
          'ddl: CREATE TABLE for DuckDB; json: JSON Schema of a row; spark: StructType as JSON; odcs: data contract',
      })
      .option('output', { type: 'string', requiresArg: true, describe: 'Write to this file' })
      .example('$0 schema price_spread', 'Columns with their meaning')
      .example('$0 schema --format bigquery', 'CREATE TABLE for all tables, with exact types')
      .example('$0 schema items --format arrow --output items.arrows', 'An Arrow stream without rows')
      .epilogue(
        `Ids are int64, money is DECIMAL(18,4), times are instants in UTC, datasets and attribution are lists of text. Keys are declared unless they would slow down loading, or a part of them can be NULL.`,
      ) as Argv<SchemaArguments>,
  handler: (argv) =>
    runCommand(argv, async (context) => (await import('../actions/show-schema.js')).showSchema(argv, context)),
};
