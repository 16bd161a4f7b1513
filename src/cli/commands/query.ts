import { listAnalyses } from '../../analyze/analysis.js';
import { TABLE_NAMES } from '../../tables/table.js';
import { declareCommand } from '../command.js';
import { choice, type Form, file, flag, repeated, text, value, whole } from '../parameter.js';
import { CREDITS_NOTE, LAKES, MEMORY, RATES, REMOTE, RESULT } from '../shared-options.js';

const VARIABLE: Form<readonly [name: string, value: string]> = {
  what: 'in the form name=value',
  parse: (typed) => {
    const [, name, given = ''] = /^([a-z_]\w*)=(.*)$/su.exec(typed) ?? [];
    return name === undefined ? undefined : [name, given];
  },
  placeholder: 'NAME=VALUE',
};

export const query = declareCommand({
  name: 'query',
  describe: 'Query the lake with SQL, or run a built-in analysis',
  arguments: { sql: text("One SELECT statement in DuckDB's SQL; if it is missing on a terminal, a prompt opens") },
  options: {
    lake: LAKES,
    ...REMOTE,
    file: file('Read the SQL from this file'),
    analysis: choice(
      listAnalyses,
      'Run this query from pipelines/analysis instead; without a name, list them with their questions and variables',
      { isBare: true },
    ),
    set: repeated(
      value(VARIABLE, "Set a variable (name=value), which SQL reads with getvariable('name'); can be repeated", {
        completes: 'variables',
      }),
    ),
    ...RATES,
    fx: file('Exchange rates, which queries read as the rates table: a CSV file with the columns date,currency,rate'),
    asOf: whole('Query the tables as they were after this run', { from: 1, excludes: ['remote'] }),
    explainSource: flag('Show the lake versions, settings and SQL behind the result, instead of its rows'),
    weights: file(
      'Weights, which queries read as the weights table: a CSV file with the columns category (or shop, product, item …), weight and period',
    ),
    tree: file('Hierarchy of the units in --weights, such as COICOP: a CSV file with the columns child,parent', {
      needs: 'weights',
    }),
    ...RESULT,
    memory: value(MEMORY, "DuckDB's memory limit", { default: '2GB' }),
  },
  examples: [
    ['pricelake query "SELECT site_name, count(*) FROM items GROUP BY ALL"', 'Listings per shop'],
    [
      'pricelake query "FROM history" --format arrow --output history.arrows',
      'All changes with their types, for pandas or Polars',
    ],
    ['pricelake query --file report.sql --format csv', 'A query from a file'],
    ['pricelake query --remote s3://prices/production "FROM sites"', 'On a machine without the lake'],
    ['pricelake query --lake lake/electronics --lake lake/kitchen "FROM price_spread"', 'Two shards as one lake'],
    ['pricelake query --as-of 1 --analysis price_index', 'As the lake was after run 1'],
    ['pricelake query --analysis', 'List the analyses with their questions and variables'],
    ['pricelake query --analysis price_leaders --set hours=24', 'Which shops change their prices first'],
    [
      'pricelake query --analysis match_candidates --set top=50 --format csv --output matches.csv',
      'Pairs of products that may be the same; enter yes or no in the match column',
    ],
    [
      'pricelake query --analysis weighted_index --weights weights.csv --tree coicop.csv',
      'A price index with your weights',
    ],
    [
      'pricelake query --analysis law_of_one_price --fx ecb.csv',
      'Price gaps between currencies, with your own exchange rates',
    ],
  ],
  notes: `Tables: ${TABLE_NAMES.join(', ')}. View price_spells: every price of every listing, with its start and end.
The prompt keeps its history in ~/.local/state/pricelake/query-history.
Numbers are exact in every format: JSON contains int64 and decimals as plain numbers with all their digits (use a parser that preserves them); Arrow and Parquet use Int64 and Decimal128. CSV output is not protected against spreadsheet formulas.
The metadata of Parquet and Arrow files contains the output of --explain-source under the key source.
${CREDITS_NOTE}`,
  aliases: {
    matches: { implies: ['--analysis=match_candidates'], renames: { brand: 'set=brand', top: 'set=top' } },
  },
});
