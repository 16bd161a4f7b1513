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
    fx: file('Exchange rates for analyses across currencies, and as table rates: a CSV file with date,currency,rate'),
    list: file('Your products as CSV, for tool watch'),
    currency: currency('Currency for lines that have none'),
    ownSite: OWN_SITE,
    http: flag('Serve on this machine by HTTP instead, to those who send the secret that it prints'),
    port: whole('Port of --http; 0 picks a free one', { from: 0, to: 65_535, needs: 'http' }),
    memory: value(MEMORY, 'Memory for DuckDB before it spills to disk', { default: '500MB' }),
    timeout: value(duration(), 'Longest time of one query; default 30s'),
    allowSync: flag('Also offer sync, which spends money, within the next three options', { excludes: ['remote'] }),
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
    ['pricelake mcp --lake /data/lake', 'The command that a client starts'],
    ['pricelake mcp prices.yaml --list mine.csv', 'With plan, and with your own prices'],
    ['pricelake mcp --remote s3://prices/production', 'On a machine without the lake'],
    [
      'pricelake mcp prices.yaml --allow-sync --max-calls 500 --max-rows 100000',
      'With sync, which takes no more than this',
    ],
  ],
  notes:
    'Speaks the Model Context Protocol on stdin and stdout. Tools only read, except sync, which takes the digest of a plan. A session never takes more than its budget.',
});
