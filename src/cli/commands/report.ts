import { declareCommand } from '../command.js';
import { file, repeated, text, whole } from '../parameter.js';
import { currency, LAKE } from '../shared-options.js';

export const report = declareCommand({
  name: 'report',
  describe: 'Write one HTML page about a lake: state of the copy, checks, spreads, shops, price history',
  options: {
    lake: LAKE,
    output: file('File to write; replaces an older report, but no other file', {
      default: './pricelake-report.html',
    }),
    currency: currency('Only prices in this ISO 4217 code'),
    minShops: whole('Only products in at least this many shops; default 4, or as many as there are', {
      from: 2,
      to: 1_000_000,
    }),
    top: whole('Number of spreads, widest first', { from: 1, to: 1000, default: 50 }),
    product: repeated(
      text('Show the price history of this product_id; can be repeated; default: some of the widest spreads'),
    ),
    list: file('A price list as for watch: adds a section with your prices against the shops'),
  },
  examples: [
    ['pricelake report', 'Writes pricelake-report.html about ./lake'],
    ['pricelake report --currency EUR --top 200 --output eur.html', 'One currency, a longer table'],
    ['pricelake report --product 4006381333931 --product lamp-1', 'The price history of two products'],
  ],
  notes:
    'The file needs no network and no other file: mail it, print it, or put it on any web server. It has light and dark colours, works on a phone and by keyboard, and runs only its own script. It contains the credits of open-data sites.',
});
