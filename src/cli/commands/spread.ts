import type { CommandModule } from 'yargs';
import { GRADES, type Grade } from '../../analyze/spread-selection.js';
import { CREDITS_NOTE } from '../credits-note.js';
import { LAKE_OPTION, PIPELINE_POSITIONAL } from '../lake-option.js';
import { FORMATS, type Format } from '../output/format-names.js';
import { runCommand } from '../run-command.js';

interface SpreadArguments {
  pipeline: string | undefined;
  lake: string | undefined;
  currency: string | undefined;
  category: string | undefined;
  brand: string | undefined;
  product: string | undefined;
  'min-shops': number;
  top: number;
  outliers: boolean;
  grade: Grade;
  daily: boolean;
  since: string | undefined;
  fx: string | undefined;
  'fx-base': string | undefined;
  format: Format | undefined;
  output: string | undefined;
}

const upperCase = (code?: string) => code?.toUpperCase();

export const spreadCommand: CommandModule<object, SpreadArguments> = {
  command: 'spread [pipeline]',
  describe: 'Show the products with the widest price spreads, or the offers of one',
  builder: (yargs) =>
    yargs
      .positional('pipeline', PIPELINE_POSITIONAL)
      .option('lake', LAKE_OPTION)
      .option('currency', {
        type: 'string',
        requiresArg: true,
        describe: 'Only this ISO 4217 code',
        coerce: upperCase,
      })
      .option('category', {
        type: 'string',
        requiresArg: true,
        describe: 'Only this category (slug or path) and those below it',
      })
      .option('brand', { type: 'string', requiresArg: true, describe: 'Only this brand, in upper or lower case' })
      .option('product', {
        type: 'string',
        requiresArg: true,
        describe: 'Show the offers of this product_id or GTIN, cheapest first, and its price history',
      })
      .option('min-shops', { type: 'number', default: 2, describe: 'Only products in at least this many shops' })
      .option('top', { type: 'number', default: 20, describe: 'Number of products' })
      .option('outliers', {
        type: 'boolean',
        default: true,
        describe: 'Include products with a price far from all others (marked !)',
      })
      .option('grade', {
        choices: GRADES,
        default: 'B' as Grade,
        describe: 'Lowest grade to show; A is most trustworthy, C shows all',
      })
      .option('daily', { type: 'boolean', default: false, describe: 'One row for each product and closed day (UTC)' })
      .option('since', {
        type: 'string',
        requiresArg: true,
        describe: 'First day of --daily (default 30d) or of the price history (90d): 2026-10-01 or 30d',
      })
      .option('fx', {
        type: 'string',
        requiresArg: true,
        describe: 'Exchange rates, to compare shops of all currencies: a CSV file with date,currency,rate',
      })
      .option('fx-base', {
        type: 'string',
        requiresArg: true,
        describe: 'Base currency of the rates: what one unit of it buys; default EUR',
        coerce: upperCase,
      })
      .option('format', { choices: FORMATS, describe: 'Format of the result; default table, which cuts long texts' })
      .option('output', { type: 'string', requiresArg: true, describe: 'Write the result to this file' })
      .example('$0 spread --currency EUR --min-shops 3', 'Widest spreads among products in three shops')
      .example('$0 spread --category kitchen --grade A --top 100 --format csv', 'Only spreads without doubtful offers')
      .example('$0 spread --product 4006381333931', 'One product: its offers and its price history')
      .example('$0 spread --daily --since 90d --format parquet --output days.parquet', 'Day by day')
      .example('$0 spread --fx ecb.csv', 'Across currencies, with your own rates')
      .epilogue(
        `spread % is 100 * (max - min) / min over the prices that can be trusted; other formats call them trusted_*. To see what is left out and why, use --product, or column reason of table offers.
A rate is how much of the currency one unit of the base buys, from its date on until the next, as central banks publish it (2026-11-20,PLN,4.2435). Prices in a currency without a rate are left out.
${CREDITS_NOTE}`,
      ),
  handler: (argv) =>
    runCommand(argv, async (context) => (await import('../actions/show-spread.js')).showSpread(argv, context)),
};
