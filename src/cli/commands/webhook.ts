import type { Argv, CommandModule } from 'yargs';
import type { WebhookArguments } from '../actions/serve-webhook.js';
import { OWN_LAKE_OPTION, PIPELINE_POSITIONAL } from '../lake-option.js';
import { runCommand } from '../run-command.js';

export const webhookCommand: CommandModule<object, WebhookArguments> = {
  command: 'webhook [pipeline]',
  describe: "Receive the service's webhooks, for the next sync or to start one",
  builder: (args: Argv) =>
    args
      .positional('pipeline', PIPELINE_POSITIONAL)
      .option('lake', OWN_LAKE_OPTION)
      .option('host', { type: 'string', requiresArg: true, default: '127.0.0.1', describe: 'Address to listen on' })
      .option('port', { type: 'number', requiresArg: true, default: 8700, describe: 'Port; 0 takes any free port' })
      .option('path', { type: 'string', requiresArg: true, default: '/webhook', describe: 'Path of the endpoint' })
      .option('max-age', {
        type: 'string',
        requiresArg: true,
        default: '48h',
        describe: 'Oldest signature that is accepted, up to 7d; retries continue for a day',
      })
      .option('max-skew', {
        type: 'string',
        requiresArg: true,
        default: '5m',
        describe: 'How far a signature may be ahead of the clock of this machine',
      })
      .option('max-body', { type: 'number', requiresArg: true, default: 16, describe: 'Largest body, in MB' })
      .option('sync', { type: 'boolean', default: false, describe: 'Start a sync when events arrive, one at a time' })
      .option('sync-after', {
        type: 'string',
        requiresArg: true,
        default: '1m',
        describe: 'With --sync: how long to collect events for one run',
      })
      .example('$0 webhook', 'Events wait on disk for the next scheduled sync')
      .example('$0 webhook --sync --sync-after 10s', 'Seconds from a change to the lake, for more calls')
      .epilogue(
        `The receiver speaks HTTP: put a proxy that terminates TLS in front. GET /health returns 200, for load balancers.
SIGHUP reads secret files again. On SIGTERM, the receiver finishes what is under way, then exits.`,
      ) as Argv<WebhookArguments>,
  handler: (argv) =>
    runCommand(argv, async (context) => (await import('../actions/serve-webhook.js')).serveWebhook(argv, context)),
};
