import { listAnalyses } from '../../analyze/analysis.js';
import type { Grade } from '../../analyze/spread-selection.js';
import type { SuggestRule } from '../../analyze/watch-list.js';
import type { Since } from '../../report/read-moves.js';
import { TABLE_NAMES } from '../../tables/table.js';
import { declareCommand } from '../command.js';
import { NOTIFY } from '../notify/receivers.js';
import { choice, type Form, file, flag, repeated, text, value, whole } from '../parameter.js';
import { CREDITS_NOTE, currency, FORMATS, LAKE, PIPELINE, RATES, REMOTE, RESULT } from '../shared-options.js';

// Written out, because their room loads DuckDB.
const GRADES = ['A', 'B', 'C'] as const satisfies Grade[];

/** A day, or a number of days to go back from now. */
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
  describe: 'Show the products with the widest price spreads, or the offers of one',
  arguments: { pipeline: PIPELINE },
  options: {
    lake: LAKE,
    currency: currency('Only this ISO 4217 code'),
    category: text('Only this category (slug or path) and those below it', { completes: 'categories' }),
    brand: text('Only this brand, in upper or lower case', { completes: 'brands' }),
    product: text('Show the offers of this product_id or GTIN, cheapest first, and its price history'),
    minShops: whole('Only products in at least this many shops', { from: 0, default: 2 }),
    top: whole('Number of products', { from: 0, default: 20 }),
    outliers: flag('Include products with a price far from all others (marked !)', { default: true }),
    grade: choice(GRADES, 'Lowest grade to show; A is most trustworthy, C shows all', { default: 'B' }),
    by: choice(['product', 'match'], 'Compare the offers of one product (default), or of all products that match'),
    daily: flag('One row for each product and closed day (UTC)'),
    since: value(FIRST_DAY, 'First day of --daily (default 30d) or of the price history (90d): 2026-10-01 or 30d'),
    ...RATES,
    ...RESULT,
  },
  examples: [
    ['pricelake spread --currency EUR --min-shops 3', 'Widest spreads among products in three shops'],
    ['pricelake spread --category kitchen --grade A --top 100 --format csv', 'Only spreads without doubtful offers'],
    ['pricelake spread --product 4006381333931', 'One product: its offers and its price history'],
    ['pricelake spread --daily --since 90d --format parquet --output days.parquet', 'Day by day'],
    ['pricelake spread --by match', 'Products that belong together as one (table matches)'],
    ['pricelake spread --fx ecb.csv', 'Across currencies, with your own rates'],
  ],
  notes: `spread % is 100 * (max - min) / min over the prices that can be trusted; other formats call them trusted_*. To see what is left out and why, use --product, or column reason of table offers.
A rate is how much of the currency one unit of the base buys, from its date on until the next, as central banks publish it (2026-11-20,PLN,4.2435). Prices in a currency without a rate are left out.
${CREDITS_NOTE}`,
});

const SITE_ID: Form<bigint> = {
  what: 'a site_id',
  parse: (typed) => (/^\d{1,18}$/u.test(typed) ? BigInt(typed) : undefined),
  placeholder: 'ID',
  hint: 'Give a site_id of table sites.',
};

const RULE: Form<SuggestRule> = {
  what: 'a rule: cheapest, second or median, with a percentage to go below it if you like, such as median-5%',
  parse: (typed) => {
    const [, by, minus = '0'] = /^(cheapest|second|median)(?:-(\d{1,2}(?:\.\d{1,2})?)%)?$/u.exec(typed) ?? [];
    // As a number it has no zeros that say nothing.
    return by === undefined ? undefined : { by: by as SuggestRule['by'], minus: String(Number(minus)) };
  },
  placeholder: 'RULE',
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
    withSuspects: flag('Compare every price, also those that look wrong; keeps nothing for the next run'),
    compliance: flag('Show every time that a shop was below a lowest allowed price, with evidence', {
      excludes: ['suggest', 'state'],
    }),
    suggest: value(RULE, 'Suggest a price for each line by this rule: cheapest, second, median, or e.g. median-5%', {
      excludes: ['withSuspects', 'state'],
    }),
    state: file('File that keeps the result for the next run to compare; default LIST.watch.parquet'),
    notify: NOTIFY,
    ...RESULT,
    format: choice(FORMATS, 'Format of the result; default table, which shows fewer columns'),
  },
  examples: [
    ['pricelake watch --list mine.csv', 'Your position, and who undercuts you since when'],
    ['pricelake watch --list mine.csv --format csv --output found.csv', 'All columns, into a file'],
    ['pricelake watch --list mine.csv --compliance', 'Who went below your lowest allowed prices, when, who followed'],
    ['pricelake watch --list mine.csv --suggest median-5% --format csv --output new.csv', 'New prices for your shop'],
    ['pricelake watch --list mine.csv --notify slack:SLACK_URL', 'Post new price alarms to Slack'],
  ],
  notes: `product is a GTIN in any form, or a product_id of table products. lowest and highest are the prices that you allow. Exit code 7 means that a shop is below the lowest allowed price of a product, so that a scheduler can raise the alarm.
Prices that look wrong (is_counted of table offers) are not compared and raise no alarm: column left_out says which, and why.
--suggest stays within lowest and highest, goes only by prices that count, and says its reason in words. --compliance and --suggest keep nothing for the next run.
If semicolons separate the columns, prices have a decimal comma. A product that nobody sells is not an error: column reason says why nothing was found.
${CREDITS_NOTE}`,
});

const MEMORY: Form<string> = {
  what: 'a size such as 512MB or 2GB',
  parse: (typed) => (/^\d+(\.\d+)?\s*([KMGT]i?B)$/iu.test(typed) ? typed : undefined),
  placeholder: 'SIZE',
};

const VARIABLE: Form<readonly [name: string, value: string]> = {
  what: 'of the form name=value',
  parse: (typed) => {
    const [, name, given = ''] = /^([a-z_]\w*)=(.*)$/su.exec(typed) ?? [];
    return name === undefined ? undefined : [name, given];
  },
  placeholder: 'NAME=VALUE',
};

export const query = declareCommand({
  name: 'query',
  describe: 'Query the lake in SQL, read-only',
  arguments: { sql: text("One SELECT in DuckDB's SQL; without one, a prompt on a terminal") },
  options: {
    lake: LAKE,
    ...REMOTE,
    file: file('Read the SQL from this file'),
    analysis: choice(
      listAnalyses,
      'Run this query of pipelines/analysis instead; its file lists the variables that it reads',
    ),
    set: repeated(value(VARIABLE, "A variable, name=value, for getvariable('name') in the SQL; can be repeated")),
    ...RATES,
    fx: file('Exchange rates, as table rates: a CSV file with date,currency,rate'),
    ...RESULT,
    memory: value(MEMORY, 'Memory that DuckDB may use before it spills to disk', { default: '2GB' }),
  },
  examples: [
    ['pricelake query "SELECT site_name, count(*) FROM items GROUP BY ALL"', 'Listings per shop'],
    [
      'pricelake query "FROM history" --format arrow --output history.arrows',
      'All changes, typed, for pandas or Polars',
    ],
    ['pricelake query --file report.sql --format csv', 'A query kept in a file'],
    ['pricelake query --remote s3://prices/production "FROM sites"', 'From a machine without the lake'],
    ['pricelake query --analysis price_leaders --set hours=24', 'Which shops move their prices first'],
    [
      'pricelake query --analysis law_of_one_price --fx ecb.csv',
      'Gaps between currencies, with your own exchange rates',
    ],
  ],
  notes: `Tables: ${TABLE_NAMES.join(', ')}. View price_spells: every price of every listing, from when to when.
The prompt keeps its history in ~/.local/state/pricelake/query-history.
Numbers are exact in every format: JSON has int64 and decimals as plain numbers with all their digits (use a parser that keeps them); Arrow and Parquet have Int64 and Decimal128. CSV is not protected against spreadsheet formulas.
${CREDITS_NOTE}`,
});

const MOMENT: Form<Since> = {
  what: 'a run such as 41, or a time in UTC such as 2026-11-20 or 2026-11-20T08:00:00Z',
  parse: (typed) => {
    if (/^\d{1,9}$/u.test(typed)) return { run: BigInt(typed) };
    const isTime = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?Z)?$/u.test(typed) && !Number.isNaN(Date.parse(typed));
    return isTime ? { time: new Date(typed).toISOString() } : undefined;
  },
  placeholder: 'RUN|TIME',
};

export const explore = declareCommand({
  name: 'explore',
  describe: 'Open the lake as pages in a browser on this machine',
  arguments: { pipeline: PIPELINE },
  options: {
    lake: LAKE,
    ...REMOTE,
    port: whole('Port to listen on; 0 takes any free one', { from: 0, to: 65_535, default: 0 }),
    host: text('Address to listen on; any but loopback lets others on the network try', { default: '127.0.0.1' }),
    list: file('Your products as CSV, as for watch: adds a page with your position'),
    currency: currency('Currency of lines without one'),
    ownSite: value(SITE_ID, 'site_id of your own shop, which is left out', { completes: 'shops' }),
    memory: value(MEMORY, 'Memory that DuckDB may use before it spills to disk', { default: '450MB' }),
  },
  examples: [
    ['pricelake explore', 'Print the address of the pages; Ctrl-C ends them'],
    ['pricelake explore --remote s3://prices/production', 'On a machine without the lake'],
    ['pricelake explore --list mine.csv --port 8080', 'With your own prices, at the same port each time'],
  ],
  notes: `The address has a secret. Each start makes another one. Pages show the newest run, and follow new ones; with --remote they look for one every minute. Nothing is written to the lake, and pages ask for nothing from other hosts.
${CREDITS_NOTE}`,
});

export const report = declareCommand({
  name: 'report',
  describe: 'Write one HTML page about a lake: spreads, shops, what moved, price history, state of the copy, checks',
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
    list: file('A price list as for watch: adds your prices against the shops, and who was below your lowest ones'),
    ownSite: value(SITE_ID, "site_id of your own shop: adds what others sell and you don't", { completes: 'shops' }),
    since: value(MOMENT, 'Show what moved since this run or time; default: in the day before the newest data'),
  },
  examples: [
    ['pricelake report', 'Writes pricelake-report.html about ./lake'],
    ['pricelake report --currency EUR --top 200 --output eur.html', 'One currency, a longer table'],
    ['pricelake report --product 4006381333931 --product lamp-1', 'The price history of two products'],
    ['pricelake report --list mine.csv --own-site 24 --since 2026-11-18', 'Your prices and range, and a week of moves'],
  ],
  notes:
    'The file needs no network and no other file: mail it, print it, or put it on any web server. It has light and dark colours, works on a phone and by keyboard, and runs only its own script. It contains the credits of open-data sites.',
});
