import type { Argv, CommandModule } from 'yargs';
import { TABLE_NAMES, type TableName } from '../../tables/table.js';
import { CREDITS_NOTE } from '../credits-note.js';
import { LAKE_OPTION } from '../lake-option.js';
import { FORMATS, type Format } from '../output/format-names.js';
import { runCommand } from '../run-command.js';
import { SINCE_OPTION } from '../since-option.js';

interface ChangesArguments {
  table: TableName;
  since: string;
  lake: string | undefined;
  format: Format | undefined;
  output: string | undefined;
}

export const changesCommand: CommandModule<object, ChangesArguments> = {
  command: 'changes <table>',
  describe: 'Show the rows of a table that are new, changed or gone since a run, a version or a time',
  builder: (yargs: Argv) =>
    yargs
      .positional('table', { choices: TABLE_NAMES, demandOption: true, describe: 'Table of the lake' })
      .option('since', { ...SINCE_OPTION, demandOption: true })
      .option('lake', LAKE_OPTION)
      .option('format', { choices: FORMATS, describe: 'Format of the result; default table, which cuts long texts' })
      .option('output', { type: 'string', requiresArg: true, describe: 'Write the result to this file' })
      .example('$0 changes items --since 41', 'What runs after run 41 changed')
      .example(
        '$0 changes items --since 2026-11-22 --format parquet --output new.parquet',
        'What changed since midnight',
      )
      .epilogue(
        `Columns before those of the table: change (new, changed or gone; written if it is new or changed), changed_columns, and for items events: what happened to them meanwhile.
Only files that runs added or replaced are read. lake.retention says how long replaced files are kept. Without them, the command cannot tell new rows of items from changed ones, and fails for tables that runs rewrite.
${CREDITS_NOTE}`,
      ) as Argv<ChangesArguments>,
  handler: (argv) =>
    runCommand(argv, async (context) => (await import('../actions/show-changes.js')).showChanges(argv, context)),
};
