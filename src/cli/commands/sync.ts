import type { Argv, CommandModule } from 'yargs';
import { MAX_OVERAGE, MAX_ROWS } from '../cap-options.js';
import { OWN_LAKE_OPTION, PIPELINE_POSITIONAL } from '../lake-option.js';
import { runCommand } from '../run-command.js';
import { RESUME_HINT } from '../stop-signals.js';

interface SyncOptions {
  pipeline?: string;
  lake?: string;
  'publish-held': boolean;
  deadline?: string;
  reconcile: boolean;
  'land-only'?: boolean;
  'max-rows'?: string;
  'max-overage'?: string;
  metrics?: string;
  openlineage?: string;
}

export const syncCommand: CommandModule<object, SyncOptions> = {
  command: 'sync [pipeline]',
  describe: 'Bring the lake up to date with the service',
  builder: (args: Argv) =>
    args
      .positional('pipeline', PIPELINE_POSITIONAL)
      .option('lake', OWN_LAKE_OPTION)
      .option('publish-held', {
        type: 'boolean',
        default: false,
        describe: 'Publish the batch that a failed gate holds, without a call, and do nothing else',
      })
      .option('reconcile', {
        type: 'boolean',
        default: false,
        describe: 'Take a complete copy and compare it with the lake: repair what differs, mark what is gone',
      })
      .option('land-only', {
        type: 'boolean',
        conflicts: ['metrics', 'openlineage'],
        describe: 'Land what is new, and leave the tables as they are; the next sync continues from there',
      })
      .option('max-rows', MAX_ROWS)
      .option('max-overage', MAX_OVERAGE)
      .option('deadline', {
        type: 'string',
        requiresArg: true,
        describe: 'Stop at the next safe point after this time (90s, 20m, 2h), keep progress, and exit with 75',
      })
      .option('metrics', {
        type: 'string',
        requiresArg: true,
        describe: "Write the run's metrics to this file (.prom) for the node exporter's textfile collector",
      })
      .option('openlineage', {
        type: 'string',
        requiresArg: true,
        describe:
          'Send OpenLineage events to this file (one line each) or address; OPENLINEAGE_API_KEY is the bearer token',
      })
      .example('$0 sync', 'With prices.yaml in this folder: the first run copies everything, later ones what changed')
      .example('$0 sync --reconcile', 'Compare everything with the service, and repair')
      .example('$0 sync --max-overage 2', 'Let this run bill two blocks of 10,000 export rows')
      .example('$0 sync /etc/prices.yaml --lake /data/lake --json', 'For schedulers: one JSON object on stdout')
      .epilogue(
        `If a run stops for any reason, run the same command again: it continues where it stopped. Nothing is published unless the gate checks pass.`,
      ) as Argv<SyncOptions>,
  handler: (argv) =>
    runCommand(argv, async (context) => (await import('../actions/run-sync.js')).runSync(argv, context), RESUME_HINT),
};
