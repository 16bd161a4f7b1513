import type { CommandModule } from 'yargs';
import { LAKE_OPTION } from '../lake-option.js';
import { runCommand } from '../run-command.js';

interface ReportArguments {
  lake: string | undefined;
  output: string;
  currency: string | undefined;
  'min-shops': number | undefined;
  top: number;
  product: string[] | undefined;
  list: string | undefined;
}

export const reportCommand: CommandModule<object, ReportArguments> = {
  command: 'report',
  describe: 'Write one HTML page about a lake: state of the copy, checks, spreads, shops, price history',
  builder: (yargs) =>
    yargs
      .option('lake', LAKE_OPTION)
      .option('output', {
        type: 'string',
        default: './pricelake-report.html',
        requiresArg: true,
        describe: 'File to write; replaces an older report, but no other file',
      })
      .option('currency', {
        type: 'string',
        requiresArg: true,
        describe: 'Only prices in this ISO 4217 code',
        coerce: (code?: string) => code?.toUpperCase(),
      })
      .option('min-shops', {
        type: 'number',
        requiresArg: true,
        describe: 'Only products in at least this many shops; default 4, or as many as there are',
      })
      .option('top', { type: 'number', default: 50, requiresArg: true, describe: 'Number of spreads, widest first' })
      .option('product', {
        type: 'string',
        array: true,
        nargs: 1,
        describe: 'Show the price history of this product_id; can be repeated; default: some of the widest spreads',
      })
      .option('list', {
        type: 'string',
        requiresArg: true,
        describe: 'A price list as for watch: adds a section with your prices against the shops',
      })
      .example('$0 report', 'Writes pricelake-report.html about ./lake')
      .example('$0 report --currency EUR --top 200 --output eur.html', 'One currency, a longer table')
      .example('$0 report --product 4006381333931 --product lamp-1', 'The price history of two products')
      .epilogue(
        `The file needs no network and no other file: mail it, print it, or put it on any web server. It has light and dark colours, works on a phone and by keyboard, and runs only its own script. It contains the credits of open-data sites.`,
      ),
  handler: (argv) =>
    runCommand(argv, async (context) => (await import('../actions/write-report.js')).writeReport(argv, context)),
};
