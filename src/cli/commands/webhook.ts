import { declareCommand } from '../command.js';
import { duration, type Form, flag, number, text, value, whole } from '../parameter.js';
import { OWN_LAKE, PIPELINE } from '../shared-options.js';

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
