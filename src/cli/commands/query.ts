import { listAnalyses } from '../../analyze/analysis.js';
import { TABLE_NAMES } from '../../tables/table.js';
import { declareCommand } from '../command.js';
import { choice, type Form, file, repeated, text, value } from '../parameter.js';
import { CREDITS_NOTE, LAKE, RATES, REMOTE, RESULT } from '../shared-options.js';

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
