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

// The grades are repeated here, because importing them would load DuckDB.
const GRADES = ['A', 'B', 'C'] as const satisfies Grade[];

const TABLES_WITH_REASONS = [
  'items',
  'history',
  'offers',
  'products',
  'price_spread',
] as const satisfies ExplainedTable[];

/** A day, or a number of days before now. */
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
  describe: 'Show the widest price spreads, or one product',
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
    by: choice(['product', 'match'], 'Compare the offers of each product (default), or of all products of a match'),
    daily: flag('One row per product and closed day (UTC)'),
    since: value(FIRST_DAY, 'First day of --daily (default 30d) or of the price history (90d): 2026-10-01 or 30d'),
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
    ['pricelake spread --daily --since 90d --format parquet --output days.parquet', 'Day by day'],
    ['pricelake spread --by match', 'Treat matched products as one (table matches)'],
    ['pricelake spread --fx ecb.csv', 'Across currencies, with your own exchange rates'],
  ],
  notes: `spread % is 100 * (max - min) / min of the trusted prices; other formats call these columns trusted_*. To see which offers are left out and why, use --product, or column reason of table offers.
A rate is how much of the currency one unit of the base buys, as central banks publish it (2026-11-20,PLN,4.2435). It applies from its date until the next one. Prices in a currency without a rate are left out.
${CREDITS_NOTE}`,
});

const RULE: Form<SuggestRule> = {
  what: 'a rule: cheapest, second or median, with a percentage to go below it if you like, such as median-5%',
  parse: (typed) => {
    const [, by, minus = '0'] = /^(cheapest|second|median)(?:-(\d{1,2}(?:\.\d{1,2})?)%)?$/u.exec(typed) ?? [];
    // The number drops trailing zeros.
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
    currency: currency('Currency for lines that have none'),
    ownSite: OWN_SITE,
    withSuspects: flag('Compare every price, even those that look wrong; saves nothing for the next run'),
    compliance: flag('Show every time a shop went below a lowest allowed price, with evidence', {
      excludes: ['suggest', 'state'],
    }),
    suggest: value(
      RULE,
      'Suggest a price for each line by this rule: cheapest, second, median, or for example median-5%',
      {
        excludes: ['withSuspects', 'state'],
      },
    ),
    unsure: flag('Raise the alarm for unsure ones as well: exit code 7 and messages'),
    state: file('File that saves the result, so that the next run can compare; default LIST.watch.parquet'),
    notify: NOTIFY,
    ...RESULT,
    format: choice(FORMATS, 'Output format; default table, which shows fewer columns'),
  },
  examples: [
    ['pricelake watch --list mine.csv', 'Your position, and who has undercut you since when'],
    ['pricelake watch --list mine.csv --format csv --output found.csv', 'All columns, to a file'],
    [
      'pricelake watch --list mine.csv --compliance',
      'Who went below your lowest allowed prices, when, and who followed',
    ],
    ['pricelake watch --list mine.csv --suggest median-5% --format csv --output new.csv', 'New prices for your shop'],
    ['pricelake watch --list mine.csv --notify slack:SLACK_URL', 'Post new price alarms to Slack'],
  ],
  notes: `product is a GTIN in any form, or a product_id from table products. lowest and highest are the prices that you allow. The exit code is 7 if a shop is surely below the lowest allowed price of a product, so that a scheduler can raise an alarm. Column alarm says sure or unsure, and unsure_because why; --unsure raises it for both.
By default, watch ignores prices that look wrong (is_counted of table offers), so they raise no alarm: column left_out says which, and why.
--suggest stays within lowest and highest, uses only prices that count, and gives its reason in words. --compliance and --suggest save nothing for the next run.
If semicolons separate the columns, prices may have a decimal comma: the prices of the file show which sign it is, and 1.299 alone is refused. A product that nobody sells is not an error: column reason says why no offer was found.
${CREDITS_NOTE}`,
});

export const why = declareCommand({
  name: 'why',
  describe: 'Trace a value to the line that the service sent',
  arguments: {
    table: choice(TABLES_WITH_REASONS, 'Table of the row', { isRequired: true }),
    key: text('item_id of items and offers, change_id of history, product_id of the others', { isRequired: true }),
    column: text('Column to explain; default all, without what was said before'),
  },
  options: { lake: LAKE },
  examples: [
    ['pricelake why items 9107000000000002 price', 'The change or the read that set a price, and earlier words'],
    ['pricelake why history 9500000000005608', 'Where the raw bytes of a change are'],
    ['pricelake why price_spread 5994655937055 trusted_min', 'The offers that a spread comes from'],
  ],
  notes: 'Raw bytes are kept for landing.keep (7 days). If they are gone, why says so.',
});

const MOMENT: Form<Since> = {
  what: 'a run such as 41 (0 is before the first), or a time in UTC such as 2026-11-20 or 2026-11-20T08:00:00Z',
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
      'Write the pages to this HTML file and serve nothing; replaces an older file of pages, but no other file',
      { excludes: ['port', 'host', 'pictures', 'remote'] },
    ),
    port: whole('Port to listen on; default a free one', { from: 0, to: 65_535 }),
    host: text(
      'Address to listen on, default 127.0.0.1; any address but loopback is open to the network, protected by the secret',
    ),
    share: flag(
      'Serve colleagues: they change nothing and run no SQL, and their requests are limited. Name the address with --host',
      { excludes: ['output'] },
    ),
    list: file('Your products as CSV, as for watch; adds a page with your position'),
    currency: currency('Currency for lines of --list that have none; with --output, show only prices in this currency'),
    ownSite: value(
      SITE_ID,
      "site_id of your own shop, which is left out of the comparison; with --output, adds products that others sell and you don't",
      { completes: 'shops' },
    ),
    pictures: repeated(
      value(HOST, "Show shops' pictures from this host; can be repeated. Your browser then asks that host for them"),
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
      'With --output: show price moves since this run or time; 0 means from the beginning; default: the run before',
      { needs: 'output' },
    ),
    memory: value(MEMORY, 'Memory for DuckDB before it spills to disk; default 250MB, and 1GB with --output'),
  },
  examples: [
    ['pricelake explore', 'Print the address of the pages; press Ctrl-C to stop'],
    ['pricelake explore --remote s3://prices/production', 'On a machine without the lake'],
    ['pricelake explore --list mine.csv --port 8080', 'With your own prices, on a fixed port'],
    ['pricelake explore --share --host 192.168.1.20 --port 8080', 'For colleagues, who can only read'],
    ['pricelake explore --output prices.html', 'A report for people without the lake'],
    ['pricelake explore --output eur.html --currency EUR --top 200', 'One currency, a longer table'],
    ['pricelake explore --output two.html --product 5994655937055 --product 4097486903723', 'With two price histories'],
    [
      'pricelake explore --output mine.html --list mine.csv --own-site 10 --since 2026-11-18',
      'Your prices and assortment, and a week of price moves',
    ],
  ],
  notes: `The address contains a secret, a new one at each start. Pages show the newest run and follow new runs; with --remote they look for one every minute. explore writes to the lake only the views that you save, in _pricelake/views.json, and its pages load nothing from other hosts.
The file of --output needs no network and no other files: mail it, print it, or put it on any web server. It shows spreads, shops, price moves, price histories, the state of the copy and checks, has light and dark colours, works on a phone and with a keyboard, and runs only its own script.
${CREDITS_NOTE}`,
  aliases: { report: { implies: ['--output=./pricelake-report.html'] } },
});
