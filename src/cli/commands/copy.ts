import { declareCommand } from '../command.js';
import { NOTIFY } from '../notify/receivers.js';
import { choice, duration, type Form, file, flag, folder, number, text, value, whole } from '../parameter.js';
import { CAPS, OWN_LAKE, PIPELINE, RESUME_HINT } from '../shared-options.js';

export const init = declareCommand({
  name: 'init',
  describe: 'Write a pipeline file with every option explained',
  arguments: { file: file('Where to write it', { default: 'prices.yaml' }) },
  options: { lake: folder('Folder of the lake, as lake.path') },
  examples: [
    ['pricelake init', 'Writes prices.yaml, which commands find in this folder; overwrites nothing'],
    ['pricelake init /etc/pricelake/prices.yaml --lake /data/lake', 'For a scheduler'],
  ],
  notes:
    'On a terminal, init asks for the address of the service and the key, checks both with one call, and keeps them in .env. Commands read .env in the current folder; variables that are already set take precedence. If the lake is there already, its attributes are mapped in the file.',
});

export const doctor = declareCommand({
  name: 'doctor',
  describe: 'Check everything that a sync needs, and say how to fix what is wrong',
  arguments: { pipeline: PIPELINE },
  options: { lake: OWN_LAKE },
  examples: [
    ['pricelake doctor', 'Node, pipeline file, disk, file system, service, key, plan, clock, lake, remote'],
    ['pricelake doctor --json', 'The same for a monitoring system'],
  ],
  notes:
    'Makes one call and changes nothing. It also proposes which attributes to map. Exits with 0 if a sync can run, even with warnings, and with 3 if something failed.',
});

export const plan = declareCommand({
  name: 'plan',
  describe: 'Show what the next sync would do and cost; change nothing',
  arguments: { pipeline: PIPELINE },
  options: { lake: OWN_LAKE, reconcile: flag('Plan sync --reconcile, a complete comparison'), ...CAPS },
  examples: [
    ['pricelake plan', 'Mode, calls, export rows, overage, and what is left of the month'],
    ['pricelake plan --max-overage 2 --json', 'If two blocks of overage are allowed; as one JSON object'],
  ],
  notes:
    'Exits with 5 if sync would refuse to start, or stop before its end. plan makes up to seven calls itself: for the plan, the newest change, a page of changes, and counts of items. Its result names them, and they count like all others.',
});

/** The text goes into the message of a run that it ends. */
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
    publishHeld: flag('Publish the batch that a failed gate holds, without a call, and do nothing else'),
    reconcile: flag('Take a complete copy and compare it with the lake: repair what differs, mark what is gone'),
    landOnly: flag('Land what is new, and leave the tables as they are; the next sync continues from there', {
      excludes: ['publishHeld', 'metrics', 'openlineage', 'notify'],
    }),
    ...CAPS,
    deadline: value(
      DEADLINE,
      'Stop at the next safe point after this time (90s, 20m, 2h), keep progress, and exit with 75',
    ),
    metrics: file("Write the run's metrics to this file (.prom) for the node exporter's textfile collector"),
    openlineage: text(
      'Send OpenLineage events to this file (one line each) or address; OPENLINEAGE_API_KEY is the bearer token',
    ),
    notify: NOTIFY,
  },
  examples: [
    ['pricelake sync', 'With prices.yaml in this folder: the first run copies everything, later ones what changed'],
    ['pricelake sync --reconcile', 'Compare everything with the service, and repair'],
    ['pricelake sync --max-overage 2', 'Let this run bill two blocks of 10,000 export rows'],
    [
      'pricelake sync --notify slack:SLACK_URL',
      'Tell Slack of a run that fails; the variable SLACK_URL holds the address',
    ],
    ['pricelake sync /etc/prices.yaml --lake /data/lake --json', 'For schedulers: one JSON object on stdout'],
  ],
  notes:
    'If a run stops for any reason, run the same command again: it continues where it stopped. Nothing is published unless the gate checks pass.',
  stopHint: RESUME_HINT,
});

const ITEM_IDS: Form<bigint[]> = {
  what: 'a list of item ids, separated by commas',
  parse: (typed) => {
    const ids = typed.split(',').map((id) => id.trim());
    const isId = (id: string) => /^\d{1,19}$/.test(id) && BigInt(id) <= 9223372036854775807n;
    return ids.every(isId) ? [...new Set(ids)].map(BigInt) : undefined;
  },
  placeholder: 'IDS',
};

export const backfill = declareCommand({
  name: 'backfill',
  describe: "Read the history of chosen items, and add what the lake's history lacks",
  arguments: { what: choice(['history'], 'What to read', { isRequired: true }), pipeline: PIPELINE },
  options: {
    lake: OWN_LAKE,
    items: value(ITEM_IDS, 'Item ids, separated by commas'),
    where: text('Items that match this SQL condition on table items', { excludes: ['items'] }),
  },
  examples: [
    ['pricelake backfill history --items 4711,4712', 'Two calls, and a run'],
    [`pricelake backfill history --where "product_id = '4006381333931'"`, 'All offers of a product'],
  ],
  notes:
    "Makes one call for each item, and reads as far back as the plan's history reaches. If a backfill stops, run the same command again: it continues where it stopped. Its rows have origin history. A change that is already there is not added twice.",
  stopHint: RESUME_HINT,
});

const ENDPOINT: Form<string> = {
  what: 'a path such as /webhook',
  parse: (typed) => (/^\/[^\s?#]*$/.test(typed) ? typed : undefined),
  placeholder: 'PATH',
};

export const webhook = declareCommand({
  name: 'webhook',
  describe: "Receive the service's webhooks, for the next sync or to start one",
  arguments: { pipeline: PIPELINE },
  options: {
    lake: OWN_LAKE,
    host: text('Address to listen on', { default: '127.0.0.1' }),
    port: whole('Port; 0 takes any free port', { from: 0, to: 65_535, default: 8700 }),
    path: value(ENDPOINT, 'Path of the endpoint', { default: '/webhook' }),
    maxAge: value(
      duration({ orZero: true, most: '7d' }),
      'Oldest signature that is accepted, up to 7d; retries continue for a day',
      { default: '48h' },
    ),
    maxSkew: value(duration({ orZero: true }), 'How far a signature may be ahead of the clock of this machine', {
      default: '5m',
    }),
    maxBody: number('Largest body, in MB', { from: 0.000_001, to: 1000, default: 16 }),
    sync: flag('Start a sync when events arrive, one at a time'),
    syncAfter: value(duration({ orZero: true }), 'With --sync: how long to collect events for one run', {
      default: '1m',
    }),
  },
  examples: [
    ['pricelake webhook', 'Events wait on disk for the next scheduled sync'],
    ['pricelake webhook --sync --sync-after 10s', 'Seconds from a change to the lake, for more calls'],
  ],
  notes: `The receiver speaks HTTP: put a proxy that terminates TLS in front. GET /health returns 200, for load balancers.
SIGHUP reads secret files again. On SIGTERM, the receiver finishes what is under way, then exits.`,
});
