import type { CommandModule } from 'yargs';
import { listAnalyses } from '../../analyze/analysis.js';
import { TABLE_NAMES } from '../../tables/table.js';
import { CREDITS_NOTE } from '../credits-note.js';
import { LAKE_OPTION } from '../lake-option.js';
import { FORMATS, type Format } from '../output/format-names.js';
import { REMOTE_OPTIONS, type RemoteArguments } from '../remote-option.js';
import { runCommand } from '../run-command.js';

interface QueryArguments extends RemoteArguments {
  sql: string | undefined;
  lake: string | undefined;
  file: string | undefined;
  analysis: string | undefined;
  set: string[] | undefined;
  fx: string | undefined;
  'fx-base': string | undefined;
  format: Format | undefined;
  output: string | undefined;
  memory: string;
}

export const queryCommand: CommandModule<object, QueryArguments> = {
  command: 'query [sql]',
  describe: 'Query the lake in SQL, read-only',
  builder: (yargs) =>
    yargs
      .positional('sql', {
        type: 'string',
        describe: "One SELECT in DuckDB's SQL; without one, a prompt on a terminal",
      })
      .option('lake', LAKE_OPTION)
      .options(REMOTE_OPTIONS)
      .option('file', { type: 'string', requiresArg: true, describe: 'Read the SQL from this file' })
      .option('analysis', {
        choices: listAnalyses(),
        describe: 'Run this query of pipelines/analysis instead; its file lists the variables that it reads',
      })
      .option('set', {
        type: 'string',
        array: true,
        nargs: 1,
        describe: "A variable, name=value, for getvariable('name') in the SQL; can be repeated",
      })
      .option('fx', {
        type: 'string',
        requiresArg: true,
        describe: 'Exchange rates, as table rates: a CSV file with date,currency,rate',
      })
      .option('fx-base', {
        type: 'string',
        requiresArg: true,
        coerce: (code?: string) => code?.toUpperCase(),
        describe: 'Base currency of the rates: what one unit of it buys; default EUR',
      })
      .option('format', { choices: FORMATS, describe: 'Format of the result; default table, which cuts long texts' })
      .option('output', { type: 'string', requiresArg: true, describe: 'Write the result to this file' })
      .option('memory', {
        type: 'string',
        default: '2GB',
        requiresArg: true,
        describe: 'Memory that DuckDB may use before it spills to disk',
      })
      .example('$0 query "SELECT site_name, count(*) FROM items GROUP BY ALL"', 'Listings per shop')
      .example(
        '$0 query "FROM history" --format arrow --output history.arrows',
        'All changes, typed, for pandas or Polars',
      )
      .example('$0 query --file report.sql --format csv', 'A query kept in a file')
      .example('$0 query --remote s3://prices/production "FROM sites"', 'From a machine without the lake')
      .example('$0 query --analysis price_leaders --set hours=24', 'Which shops move their prices first')
      .example(
        '$0 query --analysis law_of_one_price --fx ecb.csv',
        'Gaps between currencies, with your own exchange rates',
      )
      .epilogue(
        `Tables: ${TABLE_NAMES.join(', ')}. View price_spells: every price of every listing, from when to when.
The prompt keeps its history in ~/.local/state/pricelake/query-history.
Numbers are exact in every format: JSON has int64 and decimals as plain numbers with all their digits (use a parser that keeps them); Arrow and Parquet have Int64 and Decimal128. CSV is not protected against spreadsheet formulas.
${CREDITS_NOTE}`,
      ),
  handler: (argv) =>
    runCommand(argv, async (context) => (await import('../actions/run-query.js')).runQuery(argv, context)),
};
