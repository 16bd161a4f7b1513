import type { Argv } from 'yargs';
import { PricelakeError } from '../../errors/errors.js';
import { parseClockMode } from '../../sandbox/clock.js';
import { describeFaults } from '../../sandbox/faults/fault-kinds.js';
import { describeReadings } from '../../sandbox/readings/registry.js';
import type { SandboxOptions } from '../../sandbox/start.js';
import { addWebhookOptions, toWebhookOptions, WEBHOOK_CALLS, type WebhookArguments } from './sandbox-webhook.js';

const PLANS = ['free', 'trial', 'pro', 'unlimited'] as const;
const SHAPES = ['item', 'flat-camel', 'flat-snake', 'dotted'] as const;
const KEYS = ['live', 'test', 'operator'] as const;

export interface SandboxArguments extends WebhookArguments {
  port: number;
  seed: number;
  items: number;
  sites: number | undefined;
  'past-days': number | undefined;
  data: string | undefined;
  changes: string | undefined;
  plan: (typeof PLANS)[number];
  rate: number | undefined;
  limit: string[] | undefined;
  overage: boolean | undefined;
  revoked: (typeof KEYS)[number][] | undefined;
  'overdue-days': number | undefined;
  'export-shape': (typeof SHAPES)[number] | undefined;
  fault: string[] | undefined;
  reading: string[] | undefined;
  clock: string;
  start: string | undefined;
}

// `global: false` keeps these out of `sandbox advance`.
const own = { requiresArg: true, global: false } as const;
const repeatable = { ...own, type: 'string', array: true, nargs: 1 } as const;

export function addSandboxOptions(yargs: Argv): Argv<SandboxArguments> {
  return addWebhookOptions(addAccountOptions(addWorldOptions(yargs)))
    .option('export-shape', {
      ...own,
      choices: SHAPES,
      describe: 'Field names of export rows; default: item, CSV flat-camel',
    })
    .option('fault', { ...repeatable, describe: 'ENDPOINT:KIND[=ARGUMENT][@WHEN], see below; can be repeated' })
    .option('reading', {
      ...repeatable,
      describe: 'NAME=VALUE: what the service does where the API document is silent, see below; can be repeated',
    })
    .option('clock', {
      ...own,
      type: 'string',
      default: 'frozen',
      describe:
        'frozen: moves only with `sandbox advance`; real, or faster such as 60x: time passes, and prices change',
    })
    .option('start', {
      ...own,
      type: 'string',
      describe: 'Time at which the clock starts, such as 2026-11-20T06:00:00Z',
    })
    .example('$0 sandbox', 'A world of 20,000 listings on any free port')
    .example('$0 sandbox --port 8600 --items 1000000 --rate 0', 'A million listings, as fast as it goes')
    .example('$0 sandbox --data items.ndjson.gz --plan trial', 'Your own items, with the limits of a trial')
    .example(
      '$0 sandbox --data items.ndjson.gz --changes changes.ndjson.gz --limit historyDays=null',
      'Your own past: its changes through the feed and in histories',
    )
    .example('$0 sandbox --limit exportRowsPerMonth=5000 --no-overage', 'Exports that end at the quota')
    .example(
      '$0 sandbox --fault export:drop@1 --fault any:429@5%',
      'A first export that breaks off, and a busy service',
    )
    .example('$0 sandbox --reading replicas=300s --reading feed.title=null', 'A service with other habits')
    .example('$0 sandbox --clock 60x', 'Time passes by itself, an hour each minute')
    .example('$0 sandbox --webhook http://127.0.0.1:8700/ --webhook-time-scale 60', 'Events, retried by the second')
    .epilogue(
      `Needs no network and no account. Runs until Ctrl-C; what it holds is in a temporary folder and gone afterwards.
With --json it prints one line once it listens: {"baseUrl":…,"keys":{"live":…,"test":…,"operator":…}}.

${describeFaults()}

${describeReadings()}

While it runs, by GET in a browser: / for a start page, /openapi.json, /sandbox for the state of the world.
By POST and without a key:
    /sandbox/advance  {"hours":1,"changes":500}
    /sandbox/faults   {"faults":["plan:html@1"]}
    /sandbox/readings {"readings":["lag.items=120s"]}
    /sandbox/account  {"revoked":["live"],"plan":"trial","overdueDays":30}
${WEBHOOK_CALLS}`,
    );
}

function addWorldOptions(yargs: Argv) {
  return yargs
    .option('port', { ...own, type: 'number', default: 0, describe: 'Port on 127.0.0.1; 0 takes any free port' })
    .option('seed', { ...own, type: 'number', default: 1, describe: 'The same seed gives the same data' })
    .option('items', { ...own, type: 'number', default: 20_000, describe: 'Number of made-up listings' })
    .option('sites', { ...own, type: 'number', describe: 'Number of shops; default grows with --items, 8 to 400' })
    .option('past-days', { ...own, type: 'number', describe: 'Days of past changes; default 90' })
    .option('data', { ...own, type: 'string', describe: 'Your own Items instead, as NDJSON, plain or gzip' })
    .option('changes', {
      ...own,
      type: 'string',
      describe: 'With --data: the recorded Changes of these Items, oldest first, instead of a made-up past',
    });
}

function addAccountOptions<T>(yargs: Argv<T>) {
  return yargs
    .option('plan', { ...own, choices: PLANS, default: 'pro' as const, describe: 'Plan of the account' })
    .option('rate', { ...own, type: 'number', describe: "Requests a second; 0 for no limit; default: the plan's rate" })
    .option('limit', {
      ...repeatable,
      describe: 'NAME=VALUE, such as apiCallsPerMonth=100; null for unlimited; can be repeated',
    })
    .option('overage', {
      type: 'boolean',
      global: false,
      describe: 'Bill export rows beyond the quota; --no-overage ends exports there',
    })
    .option('revoked', {
      ...own,
      choices: KEYS,
      array: true,
      nargs: 1,
      describe: 'A key that is answered with 401; can be repeated',
    })
    .option('overdue-days', { ...own, type: 'number', describe: 'Days that a payment is overdue; 402 from 30 on' });
}

export async function toSandboxOptions(argv: SandboxArguments): Promise<SandboxOptions> {
  const { port, seed, items, sites, data, changes, plan, rate, clock, start, overage, revoked } = argv;
  requireInteger('port', port, 0, 65_535);
  requireInteger('seed', seed, 0, 1_000_000);
  requireInteger('items', items, 1, 50_000_000);
  if (sites !== undefined) requireInteger('sites', sites, 1, 2000);
  if (argv['past-days'] !== undefined) requireInteger('past-days', argv['past-days'], 5, 3650);
  if (changes !== undefined && data === undefined) {
    throw new PricelakeError('usage', '--changes is given without --data', {
      hint: 'Give the Items that the changes led to with --data.',
    });
  }
  requirePositive('rate', rate);
  requirePositive('overdue-days', argv['overdue-days']);
  if (start !== undefined && Number.isNaN(Date.parse(start))) {
    throw new PricelakeError('usage', `--start "${start}" is not a date-time such as 2026-11-20T06:00:00Z`);
  }
  const { parseLimits } = await import('../../sandbox/plans.js');
  return {
    ...{
      port,
      seed,
      items,
      plan,
      clock: parseClockMode(clock),
      limits: parseLimits(argv.limit ?? []),
      faults: argv.fault ?? [],
      readings: argv.reading ?? [],
    },
    webhook: toWebhookOptions(argv),
    ...(sites === undefined ? {} : { sites }),
    ...(argv['past-days'] === undefined ? {} : { pastDays: argv['past-days'] }),
    ...(data === undefined ? {} : { dataFile: data }),
    ...(changes === undefined ? {} : { changesFile: changes }),
    ...(rate === undefined ? {} : { ratePerSecond: rate === 0 ? null : rate }),
    ...(overage === undefined ? {} : { overage }),
    ...(revoked === undefined ? {} : { revoked }),
    ...(argv['overdue-days'] === undefined ? {} : { overdueDays: argv['overdue-days'] }),
    ...(argv['export-shape'] === undefined ? {} : { exportShape: argv['export-shape'] }),
    ...(start === undefined ? {} : { startAt: new Date(start) }),
  };
}

function requireInteger(name: string, value: number, min: number, max: number): void {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  throw new PricelakeError('usage', `--${name} ${value} is not an integer from ${min} to ${max}`);
}

function requirePositive(name: string, value: number | undefined): void {
  if (value !== undefined && !(value >= 0)) throw new PricelakeError('usage', `--${name} ${value} is not 0 or more`);
}
