import type { NamedLakes } from './join-lakes.js';
import { choice, type Form, file, flag, folder, type Parameter, text, value, whole } from './parameter.js';

/** Options and arguments that several commands share. */

export const GLOBAL_OPTIONS = {
  json: flag('Print one JSON object as the last line of stdout'),
  quiet: flag('Print only results, warnings and errors', { alias: 'q' }),
  verbose: { ...flag('Log every step; -vv also logs every call', { alias: 'v' }), type: 'count' },
  color: flag('Use colors; by default, only on a terminal. --no-color and NO_COLOR turn them off'),
} as const;

/** The pipeline file. `findPipeline` documents which file is used by default. */
export const PIPELINE = file('Pipeline file (YAML); default: PRICELAKE_PIPELINE, or prices.yaml in this folder');

/** The lake of commands that read one lake. `findTarget` documents which lake is used by default. */
export const LAKE = folder('Lake folder; default: lake.path in the pipeline file, or ./lake');

/** The lakes of commands that can combine several lakes of one service. */
export const LAKES: Parameter<NamedLakes | undefined> = {
  ...folder(
    'Lake folder; default: lake.path in the pipeline file, or ./lake. Several lakes of the same service are read as one',
  ),
  list: 'repeated',
  read: (typed) => {
    const [first = '', ...rest] = (typed as readonly unknown[]).map(String);
    return rest.length === 0 ? first : [first, ...rest];
  },
};

export const SHARD = text(
  'Shard in the pipeline file (source.shards), with its own datasets, lake and share of the budget',
  {
    excludes: ['lake'],
  },
);

export const OWN_LAKE = folder('Lake folder, overriding lake.path');

export const CAPS = {
  maxRows: whole('Maximum export rows for this run', { from: 0 }),
  maxOverage: whole('Maximum overage for this run, in started blocks of 10,000 export rows; overrides budget.overage', {
    from: 0,
  }),
};

export const SINCE_FORMS =
  'A run (41, or its run_id), a table version (v14) or a UTC time (2026-11-22T08:00:00Z); 0 means the beginning';

const BYTES: Record<string, number> = { MB: 1e6, GB: 1e9, TB: 1e12 };
const CACHE_SIZE: Form<number> = {
  what: 'a size such as 500MB or 10GB',
  parse: (typed) => {
    const [, count, unit = ''] = /^(\d+(?:\.\d+)?)(MB|GB|TB)$/.exec(typed) ?? [];
    return count === undefined ? undefined : Number(count) * (BYTES[unit] ?? 0);
  },
  placeholder: 'SIZE',
};

export const CACHE = folder('Cache folder for combining several lakes; default: ~/.cache/pricelake');

export const REMOTE = {
  remote: text(
    'Read the lake at this address (s3://bucket/prefix) instead of --lake, downloading only the files that are needed',
  ),
  cache: folder('Cache folder for a remote lake, or for combining several lakes; default: ~/.cache/pricelake'),
  cacheSize: value(
    CACHE_SIZE,
    'With --remote: maximum size of the cache folder; default: 10GB. The least recently used files are removed first',
  ),
};

const CURRENCY: Form<string> = { what: 'a currency', parse: (code) => code.toUpperCase(), placeholder: 'CODE' };

export const currency = (describe: string) => value(CURRENCY, describe, { completes: 'currencies' });

export const SITE_ID: Form<bigint> = {
  what: 'a site_id',
  parse: (typed) => (/^\d{1,18}$/u.test(typed) ? BigInt(typed) : undefined),
  placeholder: 'ID',
  hint: 'Use a site_id from the sites table.',
};

export const OWN_SITE = value(SITE_ID, 'site_id of your own shop, which is excluded from the comparison', {
  completes: 'shops',
});

export const MEMORY: Form<string> = {
  what: 'a size such as 512MB or 2GB',
  parse: (typed) => (/^\d+(\.\d+)?\s*([KMGT]i?B)$/iu.test(typed) ? typed : undefined),
  placeholder: 'SIZE',
};

export const RATES = {
  fx: file(
    'Exchange rates for comparing shops in different currencies: a CSV file with the columns date,currency,rate',
  ),
  fxBase: value(CURRENCY, 'Base currency of the rates; default: EUR'),
};

export const FORMATS = ['table', 'csv', 'json', 'ndjson', 'arrow', 'parquet'] as const;
export type Format = (typeof FORMATS)[number];

export const RESULT = {
  format: choice(FORMATS, 'Output format; default: table, which truncates long text'),
  output: file('Write the result to this file'),
};

/** A help text for commands whose results include the license texts of open-data shops. */
export const CREDITS_NOTE = `Every result includes the license texts of open-data shops: below a table, or in the metadata of Arrow and Parquet files. CSV and JSON have no place for metadata that every parser ignores, so the texts go to <output>-metadata.json next to the file (W3C's CSV on the Web), or to stderr if the result goes to stdout.`;

/** The hint that is printed if a signal stops a command that can resume. */
export const RESUME_HINT = 'Downloaded data is kept. Run the same command again to continue where it stopped.';
