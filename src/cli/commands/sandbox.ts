import { type ClockMode, parseClockMode } from '../../sandbox/clock.js';
import { describeFaults } from '../../sandbox/faults/fault-kinds.js';
import type { AccountChange } from '../../sandbox/http/account.js';
import type { PlanCode } from '../../sandbox/plans.js';
import { describeReadings } from '../../sandbox/readings/registry.js';
import type { ExportShape } from '../../sandbox/world/export-rows.js';
import { declareCommand } from '../command.js';
import { choice, type Form, file, flag, folder, number, repeated, text, value, whole } from '../parameter.js';

export const demo = declareCommand({
  name: 'demo',
  describe: 'Show a complete example on this machine in half a minute',
  options: {
    lake: folder('Folder of the lake; replaced if it exists', { default: './demo-lake' }),
    keep: folder('Keep the lake and the HTML report in this folder, as FOLDER/lake and FOLDER/report.html'),
    items: whole('Number of listings in the sandbox', { from: 1, default: 20_000 }),
  },
  examples: [
    ['pricelake demo', 'Takes about half a minute'],
    ['pricelake demo --items 1000000 --keep /tmp/demo', 'A million listings; then open /tmp/demo/report.html'],
  ],
  notes: 'Copies the sandbox, syncs changes, runs checks, and shows price spreads. Needs no network and no account.',
});

// The sandbox defines the same values, but importing them from it would load the whole sandbox.
const PLANS = ['free', 'trial', 'pro', 'unlimited'] as const satisfies PlanCode[];
const SHAPES = ['item', 'flat-camel', 'flat-snake', 'dotted'] as const satisfies ExportShape[];
const KEYS = ['live', 'test', 'operator'] as const satisfies AccountChange['revoked'];

const CLOCK: Form<ClockMode> = { what: 'a clock', parse: parseClockMode, placeholder: 'SPEED' };

const START: Form<Date> = {
  what: 'a date-time such as 2026-11-20T06:00:00Z',
  parse: (typed) => (Number.isNaN(Date.parse(typed)) ? undefined : new Date(typed)),
  placeholder: 'TIME',
};

const SECRET: Form<string> = {
  what: 'a secret, because it is empty',
  parse: (typed) => (typed === '' ? undefined : typed),
  placeholder: 'SECRET',
};

const world = {
  port: whole('Port on 127.0.0.1; 0 picks a free one', { from: 0, to: 65_535, default: 0 }),
  seed: whole('Seed of the generated data', {
    from: 0,
    to: 1_000_000,
    default: 1,
  }),
  items: whole('Number of generated listings', { from: 1, to: 50_000_000, default: 20_000 }),
  sites: whole('Number of shops; default: 8 to 400, depending on --items', { from: 1, to: 2000 }),
  pastDays: whole('Days of past changes; default 90', { from: 5, to: 3650 }),
  data: file('Serve your own Items from this NDJSON file (plain or gzip) instead'),
  changes: file('With --data: serve recorded Changes of these Items, oldest first, instead of generated past changes', {
    needs: 'data',
  }),
};

const account = {
  plan: choice(PLANS, 'Plan of the account', { default: 'pro' }),
  rate: number("Requests per second; 0 for no limit; default: the plan's rate", { from: 0 }),
  limit: repeated(text('Plan limit NAME=VALUE, such as apiCallsPerMonth=100; null means unlimited; can be repeated')),
  overage: flag('Charge for export rows beyond the quota; with --no-overage, exports stop at the quota'),
  revoked: repeated(choice(KEYS, 'A key that is rejected with 401; can be repeated')),
  overdueDays: number('Days that a payment is overdue; from day 30, requests are rejected with 402', { from: 0 }),
};

const webhook = {
  webhook: text('Endpoint on this machine that receives events'),
  webhookSecret: repeated(
    value(SECRET, 'Signing secret; a second one is an older secret that is still valid; default: generated'),
  ),
  webhookTimeScale: number('Speed-up of retries and of the 24-hour failure limit; default: the speed of --clock', {
    from: 1,
    to: 1_000_000,
  }),
  webhookAnyHost: flag('Allow endpoints on other machines'),
};

export const sandbox = declareCommand({
  name: 'sandbox',
  describe: 'Serve a simulation of the whole API on this machine',
  options: {
    ...world,
    ...account,
    ...webhook,
    exportShape: choice(SHAPES, 'Field names of export rows; default: item, CSV flat-camel'),
    fault: repeated(text('Fault to inject: ENDPOINT:KIND[=ARGUMENT][@WHEN], see below; can be repeated')),
    reading: repeated(text('Behavior that the API document leaves open, as NAME=VALUE, see below; can be repeated')),
    clock: value(
      CLOCK,
      'frozen: only `sandbox advance` moves the clock; real or a speed such as 60x: time passes and prices change',
      { default: 'frozen' },
    ),
    start: value(START, 'Start time of the clock, such as 2026-11-20T06:00:00Z'),
  },
  examples: [
    ['pricelake sandbox', '20,000 listings on a free port'],
    ['pricelake sandbox --port 8600 --items 1000000 --rate 0', 'A million listings, without a rate limit'],
    ['pricelake sandbox --data items.ndjson.gz --plan trial', 'Your own items, with the limits of a trial'],
    [
      'pricelake sandbox --data items.ndjson.gz --changes changes.ndjson.gz --limit historyDays=null',
      'Your own past changes, which appear in the feed and in item histories',
    ],
    ['pricelake sandbox --limit exportRowsPerMonth=5000 --no-overage', 'Exports stop at the quota'],
    [
      'pricelake sandbox --fault export:drop@1 --fault any:429@5%',
      'The first export is cut off, and 5% of requests get 429',
    ],
    ['pricelake sandbox --reading replicas=300s --reading feed.title=null', 'A service that behaves differently'],
    ['pricelake sandbox --clock 60x', 'One hour passes per minute'],
    [
      'pricelake sandbox --webhook http://127.0.0.1:8700/ --webhook-time-scale 60',
      'Send events, with retries 60 times faster',
    ],
  ],
  notes:
    () => `Serves generated data, or your own items with --data. Runs until you press Ctrl-C, then deletes its data, which is in a temporary folder.
With --json, it prints one line when it is ready: {"base_url":…,"keys":{"live":…,"test":…,"operator":…}}.

${describeFaults()}

${describeReadings()}

While it runs, open these in a browser: / for a start page, /openapi.json, /sandbox for the state of the sandbox.
Send these with POST, without a key:
    /sandbox/advance  {"hours":1,"changes":500}
    /sandbox/faults   {"faults":["plan:html@1"]}
    /sandbox/readings {"readings":["lag.items=120s"]}
    /sandbox/account  {"revoked":["live"],"plan":"trial","overdueDays":30}
    /sandbox/webhook  {"url":"http://127.0.0.1:8700/","secret":"…","after":0}
    /sandbox/webhook/roll    {"keepHours":24}
    /sandbox/webhook/ping
    /sandbox/webhook/resend  {"id":"evt_…"}`,
});

export const sandboxAdvance = declareCommand({
  name: 'sandbox advance',
  describe: 'Let time pass in a running sandbox: move its clock, change prices, add and remove listings',
  options: {
    url: text('Base URL that the sandbox printed; default PRICELAKE_BASE_URL'),
    hours: number('Hours to pass', { from: 0, default: 1 }),
    changes: whole('Exact number of changes; default: 0.8% of the items per hour', { from: 0 }),
  },
  examples: [
    ['pricelake sandbox advance --url http://127.0.0.1:8600 --hours 24', 'A day passes'],
    ['pricelake sandbox advance --hours 1 --changes 5000', '5,000 changes; the base URL comes from the environment'],
  ],
});
