import { declareCommand } from '../command.js';
import { choice, type Form, file, value } from '../parameter.js';
import { CREDITS_NOTE, currency, FORMATS, LAKE, PIPELINE, RESULT } from '../shared-options.js';

const SITE_ID: Form<bigint> = {
  what: 'a site_id',
  parse: (typed) => (/^\d{1,18}$/u.test(typed) ? BigInt(typed) : undefined),
  placeholder: 'ID',
  hint: 'Give a site_id of table sites.',
};

export const watch = declareCommand({
  name: 'watch',
  describe: 'Compare your own price list with the market, and show who is below your prices',
  arguments: { pipeline: PIPELINE },
  options: {
    lake: LAKE,
    list: file('Your products as CSV: product,price and optionally currency,lowest,highest', { isRequired: true }),
    currency: currency('Currency of lines without one'),
    ownSite: value(SITE_ID, 'site_id of your own shop, which is left out', { completes: 'shops' }),
    state: file('File that keeps the result for the next run to compare; default LIST.watch.parquet'),
    ...RESULT,
    format: choice(FORMATS, 'Format of the result; default table, which shows fewer columns'),
  },
  examples: [
    ['pricelake watch --list mine.csv', 'Your position, and who undercuts you since when'],
    ['pricelake watch --list mine.csv --format csv --output found.csv', 'All columns, into a file'],
  ],
  notes: `product is a GTIN in any form, or a product_id of table products. lowest and highest are the prices that you allow. Exit code 7 means that a shop is below the lowest allowed price of a product, so that a scheduler can raise the alarm.
If semicolons separate the columns, prices have a decimal comma. A product that nobody sells is not an error: column reason says why nothing was found.
${CREDITS_NOTE}`,
});
