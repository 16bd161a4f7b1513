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
  describe: 'Show columns, types and keys of the tables, or write them for another system',
  builder: (args: Argv) =>
    args
      .positional('table', { choices: TABLE_NAMES, describe: 'One table; default all' })
      .option('format', {
        choices: CONTRACT_FORMATS,
        default: 'markdown',
        describe:
          'ddl is CREATE TABLE for DuckDB; json a JSON Schema of a row; spark a StructType as JSON; odcs a data contract',
      })
      .option('output', { type: 'string', requiresArg: true, describe: 'Write to this file' })
      .example('$0 schema price_spread', 'Columns with their meaning')
      .example('$0 schema --format bigquery', 'CREATE TABLE of all tables, with types that lose nothing')
      .example('$0 schema items --format arrow --output items.arrows', 'An Arrow stream without rows')
      .epilogue(
        `Ids are int64, money is DECIMAL(18,4), times are instants in UTC, datasets and attribution are lists of text.
Keys are declared where a database does not make loading slow for them, and where no part of them may be null.`,
      ) as Argv<SchemaArguments>,
  handler: (argv) =>
    runCommand(argv, async (context) => (await import('../actions/show-schema.js')).showSchema(argv, context)),
};
