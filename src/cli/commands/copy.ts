import type { HistorySelection } from '../../wings/histories/index.js';
import { declareCommand } from '../command.js';
import { NOTIFY } from '../notify/receivers.js';
import { duration, type Form, file, flag, folder, number, text, value, whole } from '../parameter.js';
import { CAPS, OWN_LAKE, PIPELINE, RESUME_HINT, SHARD } from '../shared-options.js';

export const init = declareCommand({
  name: 'init',
  describe: 'Write a pipeline file with comments on every option',
  arguments: { file: file('Path of the new file', { default: 'prices.yaml' }) },
  options: { lake: folder('Lake folder, written to the file as lake.path') },
  examples: [
    ['pricelake init', 'Write prices.yaml, which other commands find in this folder; never overwrites a file'],
    ['pricelake init /etc/pricelake/prices.yaml --lake /data/lake', 'For a scheduler'],
  ],
  notes:
    'On a terminal, init asks for the service address and the key, checks each with one call, and saves them to .env. Commands read .env in the current folder; variables that are already set take precedence. If the lake already exists, init also maps its attributes in the file.',
});

export const doctor = declareCommand({
  name: 'doctor',
  describe: 'Check that a sync can run',
  arguments: { pipeline: PIPELINE },
  options: { lake: OWN_LAKE, dataset: SHARD },
  examples: [
    ['pricelake doctor', 'Check Node, pipeline file, disk, file system, service, key, plan, clock, lake and remote'],
    ['pricelake doctor --json', 'The same checks, for a monitoring system'],
  ],
  notes:
    'Checks this machine, the pipeline file, the service and the lake, and explains how to fix each problem. Makes one call and changes nothing. Also suggests which attributes to map. Exits with 0 if a sync can run, even with warnings, and with 3 if something failed.',
});

export const plan = declareCommand({
  name: 'plan',
  describe: 'Show what the next sync would do and cost',
  arguments: { pipeline: PIPELINE },
  options: {
    lake: OWN_LAKE,
    dataset: SHARD,
    all: flag('Plan every shard in the pipeline file, and count the listings that are in more than one', {
      excludes: ['dataset', 'lake'],
    }),
    reconcile: flag('Plan sync --reconcile, a full comparison'),
    ...CAPS,
  },
  examples: [
    ['pricelake plan', 'Mode, calls, export rows, overage, and the remaining monthly quota'],
    ['pricelake plan --max-overage 2 --json', 'Allow two blocks of overage; print one JSON object'],
    ['pricelake plan --all', 'The cost of all shards, and of listings that are in more than one'],
  ],
  notes:
    "Changes nothing. Exits with 5 if sync would refuse to start or would stop early. plan itself makes up to seven calls, for the account's plan, the newest change, a page of changes, and item counts. They count toward the quota, and the result shows their number.",
});

const MAX_INT64 = 9223372036854775807n;

/** Parses a list of item IDs, or a condition that selects items. */
const ITEMS: Form<HistorySelection> = {
  what: 'a comma-separated list of item IDs, or an SQL condition on the items table',
  parse: (typed) => {
    if (!/^[\d,\s]*$/.test(typed)) return { where: typed };
    const ids = typed.split(',').map((id) => id.trim());
    const isId = (id: string) => /^\d{1,19}$/.test(id) && BigInt(id) <= MAX_INT64;
    return ids.every(isId) ? { itemIds: [...new Set(ids)].map(BigInt) } : undefined;
  },
  placeholder: 'ITEMS',
};

/** Parses a duration, but also keeps the text that the user typed, which the error message for the deadline quotes. */
const DEADLINE: Form<{ ms: number; text: string }> = {
  ...duration(),
  parse: (typed) => {
    const ms = duration().parse(typed);
    return ms === undefined ? undefined : { ms, text: typed };
  },
};

export const sync = declareCommand({
  name: 'sync',
  describe: 'Bring the lake up to date with the service',
  arguments: { pipeline: PIPELINE },
  options: {
    lake: OWN_LAKE,
    dataset: SHARD,
    publishHeld: flag('Publish the batch that a failed gate check is holding, and do nothing else; makes no calls'),
    reconcile: flag('Compare the lake with a full copy, repair differences, and mark items that are gone'),
    landOnly: flag('Download new data without changing the tables; the next sync continues from there', {
      excludes: ['publishHeld', 'metrics', 'openlineage', 'notify'],
    }),
    backfill: value(
      ITEMS,
      "Also download the history of these items, one call each, and add the changes that the lake doesn't have; comma-separated IDs, or an SQL condition",
      { excludes: ['publishHeld', 'reconcile', 'landOnly', 'deadline'] },
    ),
    ...CAPS,
    deadline: value(
      DEADLINE,
      'Stop at the next safe point after this time (90s, 20m, 2h), keep the progress, and exit with 75',
    ),
    metrics: file("Write the run's metrics to this file (.prom) for the node exporter's textfile collector"),
    openlineage: text(
      'Send OpenLineage events to this file (one per line) or URL; OPENLINEAGE_API_KEY sets the bearer token',
    ),
    notify: NOTIFY,
  },
  examples: [
    ['pricelake sync', 'Use prices.yaml in this folder. The first run copies everything, later runs copy changes'],
    ['pricelake sync --reconcile', 'Compare everything with the service, and repair differences'],
    [
      'pricelake sync --backfill 9107000000000002,9107000000000034',
      "Add the changes of two items from before the lake's first run",
    ],
    [`pricelake sync --backfill "product_id = '5994655937055'"`, 'The same for all offers of one product'],
    ['pricelake sync --max-overage 2', 'Allow this run two blocks of overage, of 10,000 export rows each'],
    [
      'pricelake sync --notify slack:SLACK_URL',
      'Post to Slack if the run fails; the environment variable SLACK_URL holds the webhook URL',
    ],
    ['pricelake sync /etc/prices.yaml --lake /data/lake --json', 'For schedulers: print one JSON object on stdout'],
  ],
  notes:
    'If a run stops for any reason, run the same command again to continue where it stopped. A run publishes nothing unless its gate checks pass. --backfill reads as far back as your plan allows, adds rows whose origin is history, and never adds a change twice.',
  stopHint: RESUME_HINT,
  aliases: { 'backfill history': { renames: { items: 'backfill', where: 'backfill' } } },
});

const ENDPOINT: Form<string> = {
  what: 'a path such as /webhook',
  parse: (typed) => (/^\/[^\s?#]*$/.test(typed) ? typed : undefined),
  placeholder: 'PATH',
};

export const webhook = declareCommand({
  name: 'webhook',
  describe: 'Receive webhooks and save them for the next sync',
  arguments: { pipeline: PIPELINE },
  options: {
    lake: OWN_LAKE,
    host: text('Address to listen on', { default: '127.0.0.1' }),
    port: whole('Port; 0 picks a free one', { from: 0, to: 65_535, default: 8700 }),
    path: value(ENDPOINT, 'Path of the endpoint', { default: '/webhook' }),
    maxAge: value(
      duration({ orZero: true, most: '7d' }),
      'Maximum age of a signature, up to 7d; the service retries for a day',
      { default: '48h' },
    ),
    maxSkew: value(duration({ orZero: true }), "How far a signature may be ahead of this machine's clock", {
      default: '5m',
    }),
    maxBody: number('Maximum body size in MB', { from: 0.000_001, to: 1000, default: 16 }),
    sync: flag('Start a sync when events arrive; runs one at a time'),
    syncAfter: value(duration({ orZero: true }), 'With --sync: how long to collect events before a run', {
      default: '1m',
    }),
  },
  examples: [
    ['pricelake webhook', 'Save events on disk for the next scheduled sync'],
    ['pricelake webhook --sync --sync-after 10s', 'Changes reach the lake within seconds, but runs make more calls'],
  ],
  notes: `The receiver uses plain HTTP, so put a proxy that terminates TLS in front of it. GET /health returns 200, for load balancers.
On SIGHUP, the receiver rereads its secret files. On SIGTERM, it finishes current work, then exits.`,
});
