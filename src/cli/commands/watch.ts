import type { CommandModule } from 'yargs';
import { CREDITS_NOTE } from '../credits-note.js';
import { LAKE_OPTION, PIPELINE_POSITIONAL } from '../lake-option.js';
import { FORMATS, type Format } from '../output/format-names.js';
import { runCommand } from '../run-command.js';

interface WatchArguments {
  pipeline: string | undefined;
  lake: string | undefined;
  list: string;
  currency: string | undefined;
  'own-site': string | undefined;
  state: string | undefined;
  format: Format | undefined;
  output: string | undefined;
}

export const watchCommand: CommandModule<object, WatchArguments> = {
  command: 'watch [pipeline]',
  describe: 'Compare your own price list with the market, and show who is below your prices',
  builder: (yargs) =>
    yargs
      .positional('pipeline', PIPELINE_POSITIONAL)
      .option('lake', LAKE_OPTION)
      .option('list', {
        type: 'string',
        demandOption: true,
        requiresArg: true,
        describe: 'Your products as CSV: product,price and optionally currency,lowest,highest',
      })
      .option('currency', {
        type: 'string',
        requiresArg: true,
        describe: 'Currency of lines without one',
        coerce: (code?: string) => code?.toUpperCase(),
      })
      .option('own-site', {
        type: 'string',
        requiresArg: true,
        describe: 'site_id of your own shop, which is left out',
      })
      .option('state', {
        type: 'string',
        requiresArg: true,
        describe: 'File that keeps the result for the next run to compare; default LIST.watch.parquet',
      })
      .option('format', {
        choices: FORMATS,
        describe: 'Format of the result; default table, which shows fewer columns',
      })
      .option('output', { type: 'string', requiresArg: true, describe: 'Write the result to this file' })
      .example('$0 watch --list mine.csv', 'Your position, and who undercuts you since when')
      .example('$0 watch --list mine.csv --format csv --output found.csv', 'All columns, into a file')
      .epilogue(
        `product is a GTIN in any form, or a product_id of table products. lowest and highest are the prices that you allow. Exit code 7 means that a shop is below the lowest allowed price of a product, so that a scheduler can raise the alarm.
If semicolons separate the columns, prices have a decimal comma. A product that nobody sells is not an error: column reason says why nothing was found.
${CREDITS_NOTE}`,
      ),
  handler: (argv) =>
    runCommand(argv, async (context) => (await import('../actions/watch-prices.js')).watchPrices(argv, context)),
};
