import type { Grade } from '../../analyze/spread-selection.js';
import type { SuggestRule } from '../../analyze/watch-list.js';
import type { Since } from '../../explore/report.js';
import type { ExplainedTable } from '../../why/explain-value.js';
import { declareCommand } from '../command.js';
import { NOTIFY } from '../notify/receivers.js';
import { choice, type Form, file, flag, repeated, text, value, whole } from '../parameter.js';
import {
  CACHE,
  CREDITS_NOTE,
  currency,
  FORMATS,
  LAKE,
  LAKES,
  MEMORY,
  OWN_SITE,
  PIPELINE,
  RATES,
  REMOTE,
  RESULT,
  SITE_ID,
} from '../shared-options.js';

// `Grade` has the same values, but importing them from its module would load DuckDB.
const GRADES = ['A', 'B', 'C'] as const satisfies Grade[];

const TABLES_WITH_REASONS = [
  'items',
  'history',
  'offers',
  'products',
  'price_spread',
] as const satisfies ExplainedTable[];

/** The first day of a period: a date, or a number of days before today. */
export type FirstDay = { day: string } | { daysAgo: number };

const FIRST_DAY: Form<FirstDay> = {
  what: 'a day such as 2026-11-20, or a time such as 30d',
  parse: (typed) => {
    const [, days] = /^(\d{1,4})d$/u.exec(typed) ?? [];
    if (days !== undefined) return { daysAgo: Number(days) };
    return /^\d{4}-\d{2}-\d{2}$/u.test(typed) && !Number.isNaN(Date.parse(typed)) ? { day: typed } : undefined;
  },
  placeholder: 'DAY',
};

export const spread = declareCommand({
  name: 'spread',
  describe: "Show the widest price spreads, or one product's prices",
  arguments: { pipeline: PIPELINE },
  options: {
    lake: LAKES,
    cache: CACHE,
    currency: currency('Only this currency (ISO 4217 code)'),
    category: text('Only this category (slug or path) and its subcategories', { completes: 'categories' }),
    brand: text('Only this brand, ignoring case', { completes: 'brands' }),
    product: text('Show the offers of this product_id or GTIN, cheapest first, and its price history'),
    minShops: whole('Only products in at least this many shops', { from: 0, default: 2 }),
    top: whole('Maximum number of products', { from: 0, default: 20 }),
    grade: choice(GRADES, 'Lowest grade to show; A is the most trustworthy, C shows all', { default: 'B' }),
    by: choice(['product', 'match'], 'Compare the offers of each product (default), or of all products in each match'),
    daily: flag('One row per product and closed day (UTC)'),
    since: value(FIRST_DAY, 'First day with --daily (default 30d) or --product (default 90d): 2026-10-01 or 30d'),
    ...RATES,
    ...RESULT,
  },
  examples: [
    ['pricelake spread --currency EUR --min-shops 3', 'Widest spreads among products in at least three shops'],
    [
      'pricelake spread --category home-garden-kitchen-cookware --grade A --top 100 --format csv',
      'Only spreads without questionable offers',
    ],
    ['pricelake spread --product 5994655937055', 'One product: its offers and its price history'],
    ['pricelake spread --daily --since 90d --format parquet --output days.parquet', 'Spreads day by day'],
    ['pricelake spread --by match', 'Treat matched products as one (see the matches table)'],
    ['pricelake spread --fx ecb.csv', 'Across currencies, with your own exchange rates'],
  ],
  notes: `spread % is 100 * (max - min) / min, computed from the trusted prices. In other formats, these columns begin with trusted_. To see which offers are left out and why, use --product, or the reason column of the offers table.
A rate is the price of one unit of the base currency in another currency, as central banks publish it (2026-11-20,PLN,4.2435). It applies from its date until the currency's next rate. Prices in currencies without a rate are left out.
${CREDITS_NOTE}`,
});

const RULE: Form<SuggestRule> = {
  what: 'a rule: cheapest, second or median, optionally minus a percentage, such as median-5%',
  parse: (typed) => {
    const [, by, minus = '0'] = /^(cheapest|second|median)(?:-(\d{1,2}(?:\.\d{1,2})?)%)?$/u.exec(typed) ?? [];
    // Removes trailing zeros by converting the text to a number and back.
    return by === undefined ? undefined : { by: by as SuggestRule['by'], minus: String(Number(minus)) };
  },
  placeholder: 'RULE',
};

export const watch = declareCommand({
  name: 'watch',
  describe: 'Compare your price list with the market',
  arguments: { pipeline: PIPELINE },
  options: {
    lake: LAKE,
    list: file('Your products as CSV: product,price and optionally currency,lowest,highest', { isRequired: true }),
    currency: currency('Currency of lines without a currency'),
    ownSite: OWN_SITE,
    withSuspects: flag("Compare every price, even those that look wrong; doesn't save anything for the next run"),
    compliance: flag("Show each time that a shop's price was below a lowest allowed price, with evidence", {
      excludes: ['suggest', 'state'],
    }),
    suggest: value(
      RULE,
      'Suggest a price for each line by this rule: cheapest, second, median, or for example median-5%',
      {
        excludes: ['withSuspects', 'state'],
      },
    ),
    unsure: flag('Also raise unsure alarms, with exit code 7 and messages'),
    state: file('File for the result, which the next run compares with; default: LIST.watch.parquet'),
    notify: NOTIFY,
    ...RESULT,
    format: choice(FORMATS, 'Output format; default: table, which shows fewer columns'),
  },
  examples: [
    ['pricelake watch --list mine.csv', 'Your position, who undercuts you, and since when'],
    ['pricelake watch --list mine.csv --format csv --output found.csv', 'All columns, to a file'],
    [
      'pricelake watch --list mine.csv --compliance',
      'Who went below your lowest allowed prices, when, and who followed',
    ],
    ['pricelake watch --list mine.csv --suggest median-5% --format csv --output new.csv', 'New prices for your shop'],
    ['pricelake watch --list mine.csv --notify slack:SLACK_URL', 'Post new price alarms to Slack'],
  ],
  notes: `product is a GTIN in any form, or a product_id from the products table. lowest and highest are the prices that you allow. The exit code is 7 if a shop is certainly below a product's lowest allowed price, so that a scheduler can raise an alarm. The alarm column is sure or unsure, and unsure_because gives the reason; with --unsure, unsure alarms also cause exit code 7.
By default, watch ignores prices that look wrong (is_counted in the offers table), so they don't raise alarms. The left_out column lists these prices and the reasons.
--suggest stays within lowest and highest, uses only trusted prices, and explains each suggestion. --compliance and --suggest don't save anything for the next run.
If semicolons separate the columns, prices may have a decimal comma. The decimal separator is detected from the prices in the file, so a file whose only price is 1.299 is rejected. A product without offers is not an error; the reason column explains why no offer was found.
${CREDITS_NOTE}`,
});

export const why = declareCommand({
  name: 'why',
  describe: 'Trace a value to the line that the service sent',
  arguments: {
    table: choice(TABLES_WITH_REASONS, 'Table of the row', { isRequired: true }),
    key: text('item_id of items and offers, change_id of history, product_id of the others', { isRequired: true }),
    column: text('Column to explain; default: all columns, without their earlier values'),
  },
  options: { lake: LAKE },
  examples: [
    ['pricelake why items 9107000000000002 price', 'The change or read that set a price, and earlier values'],
    ['pricelake why history 9500000000005608', 'Where the raw data of a change is stored'],
    ['pricelake why price_spread 5994655937055 trusted_min', 'The offers that a spread comes from'],
  ],
  notes: 'Raw data is kept for landing.keep (7 days by default). After that, why reports that it was deleted.',
});

const MOMENT: Form<Since> = {
  what: 'a run such as 41 (0 means before the first run), or a UTC time such as 2026-11-20 or 2026-11-20T08:00:00Z',
  parse: (typed) => {
    if (/^\d{1,9}$/u.test(typed)) return { run: BigInt(typed) };
    const isTime = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?Z)?$/u.test(typed) && !Number.isNaN(Date.parse(typed));
    return isTime ? { time: new Date(typed).toISOString() } : undefined;
  },
  placeholder: 'RUN|TIME',
};

const HOST: Form<string> = {
  what: 'a host such as img.shop.example',
  parse: (typed) => (/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?$/iu.test(typed) ? typed.toLowerCase() : undefined),
  placeholder: 'HOST',
};

export const explore = declareCommand({
  name: 'explore',
  describe: 'Browse the lake as web pages, or write them to one file',
  arguments: { pipeline: PIPELINE },
  options: {
    lake: LAKES,
    ...REMOTE,
    output: file(
      'Write the pages to this HTML file instead of serving them; only overwrites a file that explore wrote',
      { excludes: ['port', 'host', 'pictures', 'remote'] },
    ),
    port: whole('Port to listen on; default: a free port', { from: 0, to: 65_535 }),
    host: text(
      'Address to listen on; default: 127.0.0.1. Any address except loopback is reachable from the network, and protected only by the secret',
    ),
    share: flag(
      "Let other people read the pages. They can't change anything or run SQL, and their requests are limited. Set the address with --host",
      { excludes: ['output'] },
    ),
    list: file('Your products as CSV, as for watch; adds a page with your position'),
    currency: currency(
      'Currency of lines in --list without a currency; with --output, show only prices in this currency',
    ),
    ownSite: value(
      SITE_ID,
      "site_id of your own shop, which is excluded from the comparison; with --output, adds products that others sell and you don't",
      { completes: 'shops' },
    ),
    pictures: repeated(
      value(HOST, "Show shops' pictures from this host, which your browser then contacts; can be repeated"),
    ),
    minShops: whole('With --output: only products in at least this many shops; default 4, or all shops if fewer', {
      from: 2,
      to: 1_000_000,
      needs: 'output',
    }),
    top: whole('With --output: maximum number of spreads, widest first; default 50', {
      from: 1,
      to: 1000,
      needs: 'output',
    }),
    product: repeated(
      text(
        'With --output: show the price history of this product_id; can be repeated; default: products with some of the widest spreads',
        { needs: 'output' },
      ),
    ),
    since: value(
      MOMENT,
      'With --output: show price moves since this run or time; 0 means the beginning; default: the previous run',
      { needs: 'output' },
    ),
    memory: value(MEMORY, "DuckDB's memory limit; default: 250MB, or 1GB with --output"),
  },
  examples: [
    ['pricelake explore', 'Serve the pages and print their address; press Ctrl-C to stop'],
    ['pricelake explore --remote s3://prices/production', 'On a machine without the lake'],
    ['pricelake explore --list mine.csv --port 8080', 'With your own prices, on a fixed port'],
    ['pricelake explore --share --host 192.168.1.20 --port 8080', 'Let other people on the network read the pages'],
    ['pricelake explore --output prices.html', 'A report for people without the lake'],
    ['pricelake explore --output eur.html --currency EUR --top 200', 'One currency, a longer table'],
    ['pricelake explore --output two.html --product 5994655937055 --product 4097486903723', 'With two price histories'],
    [
      'pricelake explore --output mine.html --list mine.csv --own-site 10 --since 2026-11-18',
      'Your prices and assortment, and a week of price moves',
    ],
  ],
  notes: `The address contains a secret, which changes at each start. Pages show the newest run and update when a new run is published; with --remote, they check for one every minute. explore writes only the views that you save, to _pricelake/views.json in the lake, and its pages don't load anything from other hosts.
The --output file needs neither the network nor other files, so you can mail it, print it, or put it on any web server. It shows spreads, shops, price moves, price histories, the state of the copy and checks, and runs only its own script.
${CREDITS_NOTE}`,
  aliases: { report: { implies: ['--output=./pricelake-report.html'] } },
});
