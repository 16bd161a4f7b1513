import type { CommandModule } from 'yargs';
import { LAKE_OPTION } from '../lake-option.js';
import { FORMATS, type Format } from '../output/format-names.js';
import { runCommand } from '../run-command.js';

interface SpreadArguments {
  lake: string;
  currency: string | undefined;
  'min-shops': number;
  top: number;
  outliers: boolean;
  format: Format | undefined;
  output: string | undefined;
}

export const spreadCommand: CommandModule<object, SpreadArguments> = {
  command: 'spread',
  describe: 'Show the products whose prices lie farthest apart',
  builder: (yargs) =>
    yargs
      .option('lake', LAKE_OPTION)
      .option('currency', {
        type: 'string',
        describe: 'Only this ISO 4217 code',
        coerce: (code?: string) => code?.toUpperCase(),
      })
      .option('min-shops', { type: 'number', default: 2, describe: 'Sold by at least so many shops' })
      .option('top', { type: 'number', default: 20, describe: 'How many products' })
      .option('outliers', {
        type: 'boolean',
        default: true,
        describe: 'Also products with a price far from all others (marked !)',
      })
      .option('format', { choices: FORMATS, describe: 'Form of the result; default table' })
      .option('output', { type: 'string', describe: 'Write the result to this file' })
      .example('$0 spread --currency EUR --min-shops 3', 'Widest spreads among products in three shops')
      .example('$0 spread --no-outliers --top 100 --format csv', 'Without absurd prices, for a spreadsheet')
      .epilogue(
        'spread % is 100 * (max - min) / min. Licence texts of open-data shops stand under the table; in other formats in the column attribution and on stderr.',
      ),
  handler: (argv) =>
    runCommand(argv, async (context) => (await import('../actions/show-spread.js')).showSpread(argv, context)),
};
