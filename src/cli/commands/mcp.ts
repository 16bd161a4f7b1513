import { declareCommand } from '../command.js';
import { duration, file, flag, value, whole } from '../parameter.js';
import { currency, LAKE, MEMORY, OWN_SITE, PIPELINE, RATES, REMOTE } from '../shared-options.js';

export const mcp = declareCommand({
  name: 'mcp',
  describe: 'Serve the lake to AI agents',
  arguments: { pipeline: PIPELINE },
  options: {
    lake: LAKE,
    ...REMOTE,
    ...RATES,
    fx: file(
      'Exchange rates for analyses across currencies, and the rates table for queries: a CSV file with the columns date,currency,rate',
    ),
    list: file('Your products as CSV, for the watch tool'),
    currency: currency('Currency of lines without a currency'),
    ownSite: OWN_SITE,
    http: flag(
      'Serve over HTTP on this machine instead of stdin and stdout; clients must send the secret that is printed',
    ),
    port: whole('Port of --http; 0 picks a free one', { from: 0, to: 65_535, needs: 'http' }),
    memory: value(MEMORY, "DuckDB's memory limit", { default: '500MB' }),
    timeout: value(duration(), 'Maximum time for one query; default: 30s'),
    allowSync: flag('Also offer the sync tool, which can cost money; the next three options limit it', {
      excludes: ['remote'],
    }),
    maxCalls: whole('Maximum calls to the service in this session', {
      from: 0,
      default: 100,
    }),
    maxRows: whole('Maximum export rows in this session', { from: 0, default: 0 }),
    maxOverage: whole('Maximum blocks of overage in this session', {
      from: 0,
      default: 0,
    }),
  },
  examples: [
    ['pricelake mcp --lake /data/lake', 'The command that an MCP client starts'],
    ['pricelake mcp prices.yaml --list mine.csv', 'With the plan tool, and with your own prices'],
    ['pricelake mcp --remote s3://prices/production', 'On a machine without the lake'],
    [
      'pricelake mcp prices.yaml --allow-sync --max-calls 500 --max-rows 100000',
      "With the sync tool, which can't exceed these limits",
    ],
  ],
  notes:
    'Uses the Model Context Protocol over stdin and stdout. All tools are read-only except sync, which requires the digest of a plan. A session never exceeds its budget.',
});
