import * as z from 'zod';
import { parseRemoteUrl, REMOTE_URL } from '../formats/remote-url.js';
import { isAddress } from '../io/path-fault.js';
import { suggestName } from '../io/suggest-name.js';
import type { Cap } from '../plan/allowance.js';
import { SPLIT_ABOVE } from '../plan/plan-shards.js';
import { MAPPABLE_FIELDS } from '../tables/item-names.js';
import { RUN_MODES } from '../tables/table.js';
import { attributeNames, mapping, shops, timeZone, wordLists } from './offer-schema.js';
import { datasets, shards } from './shard-schema.js';
import { parseDuration } from './units.js';
import { days, duration, overlap, place, size, text } from './value-schema.js';

const DAY_MS = 24 * 3600 * 1000;

/** The columns by which items may be partitioned. They have few values, and an item's value rarely changes. */
const PARTITION_COLUMNS = [
  ...['site_id', 'site_name', 'site_host', 'source_id', 'source_name'],
  ...['currency', 'category_slug', 'category_source', 'is_listed'],
];

const ICEBERG = 'must be true, false, or the address of the lake for readers of Iceberg, such as s3://bucket/lake';
const ICEBERG_BASE = /^[a-z][a-z0-9+.-]*:\/\/[^?#\p{Cc}]+$/u;

const RECONCILE = 'must be never, or every and a duration such as "every 7d"';

/** Parses `never` as undefined, and `every 7d` as a number of milliseconds. */
const schedule = z
  .string(RECONCILE)
  .regex(/^(never|every [1-9]\d{0,5}[hdw])$/, RECONCILE)
  .transform((text) => (text === 'never' ? undefined : parseDuration(text.slice('every '.length))));

const STALE = 'must be a duration such as 14d, a multiple of the usual interval such as 3x, or 0';

/** Parses `14d` as seconds, `3x` as a multiple of a source's usual interval, and `0` as unlimited. */
const staleAfter = z
  .union([z.literal(0), z.string()], STALE)
  .refine((value) => /^(0|[1-9]\d{0,3}[hdw]|[1-9]\d{0,2}x)$/.test(String(value)), STALE)
  .transform((value) => {
    const text = String(value);
    if (text.endsWith('x')) return { intervals: Number.parseInt(text, 10) };
    return { seconds: (parseDuration(text) ?? 0) / 1000 };
  });

const SAMPLE = 'must be a whole number from 0 to 100000';

const CAP = 'must be a share of the plan such as 90%, or a whole number';

/** Parses `90%` as a share of the plan's limit, and a whole number as a number per month. */
const cap = z
  .union([z.number().int().nonnegative(), z.string()], CAP)
  .refine((value) => typeof value === 'number' || /^(100|\d{1,2}(\.\d+)?)%$/.test(value), CAP)
  .transform((value): Cap => (typeof value === 'number' ? { count: value } : { percent: Number.parseFloat(value) }));

const OVERAGE = 'must be forbid, allow, or the number of blocks of 10,000 rows that may be billed per month';

const overage = z
  .union([z.enum(['forbid', 'allow']), z.number().int().nonnegative()], OVERAGE)
  .transform((value) => (value === 'allow' ? null : value === 'forbid' ? 0 : value));

const API_KEY = `must be \${NAME} (an environment variable) or {file: /path/of/the/key}`;

const MODES = ['auto', ...RUN_MODES] as const;

const WEBHOOK_SECRET = `must be \${NAME} (an environment variable), {file: /path/of/the/secrets}, or a list of these`;
const webhookSecret = z.union([z.string().min(1), mapping({ file: text('the path of a file') })], WEBHOOK_SECRET);

const severities = ['gate', 'error', 'warn', 'off'] as const;

const CHECKS = 'must map names of checks to settings';

const checkSetting = mapping({
  severity: z.enum(severities, `must be one of ${severities.join(', ')}`).optional(),
  parameters: z
    .record(
      z.string(),
      z.union([z.string(), z.number()], 'must be a number or text'),
      'must map names of parameters to values',
    )
    .optional(),
});

const DRIFTS = ['allow', 'warn', 'hold'] as const;
const DRIFT_SEVERITIES = { allow: 'off', warn: 'warn', hold: 'gate' } as const;

/** The settings of checks, by the name of the check. `schemaDrift` sets the severity of the check `schema_drift`. */
const checkSettings = z
  .object({ schemaDrift: z.enum(DRIFTS, `must be one of ${DRIFTS.join(', ')}`).optional() }, CHECKS)
  .catchall(checkSetting)
  .superRefine(({ schemaDrift, schema_drift }, context) => {
    if (schemaDrift === undefined || schema_drift?.severity === undefined) return;
    const message = 'must not be set together with checks.schemaDrift, which means the same';
    context.addIssue({ code: 'custom', path: ['schema_drift', 'severity'], message });
  })
  .transform(({ schemaDrift, ...settings }): Record<string, z.output<typeof checkSetting>> => {
    if (schemaDrift === undefined) return settings;
    return { ...settings, schema_drift: { ...settings.schema_drift, severity: DRIFT_SEVERITIES[schemaDrift] } };
  });

const MAPPING = 'must map columns of export rows to fields of Item';

const columnMapping = z
  .record(z.string().min(1), z.string('must be a field of Item, such as price or site.id'), MAPPING)
  .superRefine((mapping, context) => {
    const seen = new Set<string>();
    for (const [column, field] of Object.entries(mapping)) {
      const near = suggestName(field, MAPPABLE_FIELDS);
      const other = near === undefined ? `; there are ${MAPPABLE_FIELDS.join(', ')}` : `; did you mean "${near}"?`;
      const refuse = (message: string) => context.addIssue({ code: 'custom', path: [column], message });
      if (!MAPPABLE_FIELDS.includes(field)) refuse(`must be a field of Item${other}`);
      else if (seen.has(field)) refuse(`must be a field that no other column maps to`);
      seen.add(field);
    }
  });

const ADDRESS = `\${NAME}, an environment variable that holds the address`;

const COMMAND = 'must be a list: the program, then its arguments';

/** A program and its arguments. */
const commandLine = z
  .array(z.string(COMMAND).regex(/^[^\0]*$/, COMMAND), COMMAND)
  .min(1, COMMAND)
  .refine(([program]) => program !== '', COMMAND);

/** Addresses are validated when messages are sent (readNotify), because their variables are replaced only then. */
const receiver = mapping({
  slack: text(ADDRESS).optional(),
  teams: text(ADDRESS).optional(),
  url: text(ADDRESS).optional(),
  secret: text(`\${NAME}, an environment variable that holds the secret`).optional(),
  command: commandLine.optional(),
  staleAfter: duration.prefault('24h'),
})
  .refine(
    ({ slack, teams, url, command }) => [slack, teams, url, command].filter((one) => one !== undefined).length === 1,
    'must have one of slack, teams, url and command',
  )
  .refine(({ secret, url }) => secret === undefined || url !== undefined, {
    message: 'needs url, because only plain POST requests are signed',
    path: ['secret'],
  });

const RECEIVERS = `must be a list of at most 10 receivers, such as [{ slack: \${SLACK_URL} }]`;

const isRemoteUrl = (text: string) => parseRemoteUrl(text) !== undefined;

const FOLDER = 'must be a folder on this machine, not an address; for a bucket, set lake.remote';

const SPLIT = 'must be a whole number of items';

/** The schema of a pipeline file whose variables have been replaced. */
export const pipelineSchema = mapping({
  name: z
    .string('must be text')
    .regex(/^[\w.-]{1,64}$/, 'must be 1 to 64 letters, digits, ".", "_" or "-"')
    .default('prices'),
  source: mapping({
    baseUrl: text('the address of the service'),
    apiKey: z.union([z.string(), mapping({ file: text('the path of a file') })], API_KEY),
    datasets: datasets.prefault('all'),
    shards: shards.optional(),
    mode: z.enum(MODES, `must be one of ${MODES.join(', ')}`).default('auto'),
    feedOverlap: overlap.prefault('15m'),
    products: z.enum(['none', 'all'], 'must be none or all').default('none'),
    history: z.enum(['feed', 'items', 'none'], 'must be feed, items or none').default('feed'),
    export: z.enum(['ndjson', 'csv'], 'must be ndjson or csv').default('ndjson'),
    mapping: columnMapping.default({}),
    splitAbove: z.number(SPLIT).int(SPLIT).nonnegative(SPLIT).default(Number(SPLIT_ABOVE)),
  })
    .refine(({ datasets, products }) => products === 'none' || datasets === 'all' || datasets.length === 1, {
      message: 'must be none if source.datasets lists several, because the service groups either all datasets or one',
      path: ['products'],
    })
    .refine(({ datasets, shards }) => shards === undefined || datasets === 'all', {
      message: 'must not be set together with source.shards, which name the datasets',
      path: ['datasets'],
    })
    .refine(
      ({ products, shards = {} }) =>
        products === 'none' || Object.values(shards).every(({ datasets }) => datasets.length === 1),
      {
        message: 'must be none if a shard has several datasets, because the service groups either all datasets or one',
        path: ['products'],
      },
    ),
  lake: mapping({
    path: place('a folder').refine((path) => !isAddress(path), FOLDER),
    remote: z.string(REMOTE_URL).refine(isRemoteUrl, REMOTE_URL).optional(),
    retention: duration.optional(),
    iceberg: z.union([z.boolean(), z.string().regex(ICEBERG_BASE, ICEBERG)], ICEBERG).optional(),
    targetFileSize: size.default(128 * 1024 ** 2),
    memory: size.optional(),
    tables: mapping({
      items: mapping({
        partitionBy: z
          .array(
            z
              .string('must be a column name')
              .refine((name) => PARTITION_COLUMNS.includes(name), `must be one of ${PARTITION_COLUMNS.join(', ')}`),
            'must be a list of columns, such as [site_id] or []',
          )
          .refine((names) => new Set(names).size === names.length, 'must name each column once'),
      }).optional(),
    }).default({}),
  })
    .refine(({ remote, iceberg, retention }) => !(remote || iceberg) || retention !== 0, {
      message:
        'must not be 0 with lake.remote or lake.iceberg, because their readers need the version that they are reading',
      path: ['retention'],
    })
    .transform((lake) => ({ ...lake, retention: lake.retention ?? (lake.remote || lake.iceberg ? DAY_MS : 0) })),
  reconcile: schedule.prefault('never'),
  probe: schedule.prefault('never'),
  proof: mapping({
    facets: z.boolean('must be true or false').default(true),
    products: z.boolean('must be true or false').default(true),
    sample: z.number(SAMPLE).int(SAMPLE).min(0, SAMPLE).max(100_000, SAMPLE).default(10),
  }).prefault({}),
  budget: mapping({
    calls: cap.prefault('90%'),
    exportRows: cap.prefault('90%'),
    overage: overage.prefault('forbid'),
  }).prefault({}),
  analysis: mapping({
    daily: days.default(90),
    fx: place('a file of exchange rates').optional(),
    fxBase: z
      .string('must be an ISO 4217 code')
      .regex(/^[A-Z]{3}$/, 'must be an ISO 4217 code')
      .default('EUR'),
    staleAfter: staleAfter.prefault('14d'),
    timeZone: timeZone.default('UTC'),
    matches: place('a file of matches').optional(),
    words: wordLists,
    attributes: attributeNames,
    shops,
  }).prefault({}),
  landing: mapping({ keep: duration.default(7 * DAY_MS) }).prefault({}),
  checksFolder: place('a folder').optional(),
  checks: checkSettings.prefault({}),
  webhook: mapping({
    secret: z.union([webhookSecret, z.array(webhookSecret).min(1, WEBHOOK_SECRET)], WEBHOOK_SECRET),
  }).optional(),
  notify: z.array(receiver, RECEIVERS).max(10, RECEIVERS).default([]),
});

/** An API key from an environment variable, or the path of a file that contains the key. */
export type KeySource = z.output<typeof pipelineSchema>['source']['apiKey'];

type PipelineValues = z.output<typeof pipelineSchema>;

/** The settings of commands that only read the lake. */
export interface ReadingSettings
  extends Pick<PipelineValues, 'lake' | 'analysis' | 'budget' | 'checks' | 'checksFolder'> {
  source: Pick<PipelineValues['source'], 'mapping' | 'shards'>;
}

export type NotifySettings = Pick<PipelineValues, 'name' | 'notify'>;

export interface ReceiverSettings {
  file: string;
  lakePath: string;
  secrets: KeySource[];
}
