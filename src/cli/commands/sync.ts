import type { Argv, CommandModule } from 'yargs';
import { MAX_OVERAGE, MAX_ROWS, readCaps } from '../cap-options.js';
import { readDuration } from '../duration.js';
import { OWN_LAKE_OPTION, PIPELINE_POSITIONAL } from '../lake-option.js';
import { runCommand } from '../run-command.js';
import { RESUME_HINT } from '../stop-signals.js';

interface SyncOptions {
  pipeline?: string;
  lake?: string;
  'publish-held': boolean;
  deadline?: string;
  reconcile: boolean;
  'max-rows'?: string;
  'max-overage'?: string;
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
        describe: 'Publish the batch that a failed gate holds, without a call; nothing else is done',
      })
      .option('reconcile', {
        type: 'boolean',
        default: false,
        describe: 'Take a complete copy and compare it with the lake: repair what differs, mark what is gone',
      })
      .option('max-rows', MAX_ROWS)
      .option('max-overage', MAX_OVERAGE)
      .option('deadline', {
        type: 'string',
        requiresArg: true,
        describe: 'Stop at the next safe point after so long (90s, 20m, 2h), progress kept, exit 75',
      })
      .example('$0 sync', 'By prices.yaml in this folder: the first run copies everything, the next ones what changed')
      .example('$0 sync --reconcile', 'Compare everything with the service, and repair')
      .example('$0 sync --max-overage 2', 'Let this run bill two blocks of 10,000 export rows')
      .example('$0 sync /etc/prices.yaml --lake /data/lake --json', 'For schedulers: one JSON object on stdout')
      .epilogue(
        `A run that was stopped, by whatever, goes on where it was: run the same command again.
Nothing is published unless the gate checks pass.`,
      ) as Argv<SyncOptions>,
  handler: (argv) =>
    runCommand(
      argv,
      async ({ io, signal, say, style }) => {
        const [
          { findPipeline },
          { readPipeline },
          { syncPipeline },
          { setDeadline },
          { describeReport, formatReport },
        ] = await Promise.all([
          import('../../config/find-pipeline.js'),
          import('../../config/pipeline-file.js'),
          import('../../sync/sync.js'),
          import('../../run/deadline.js'),
          import('../run-report.js'),
        ]);
        const deadline =
          argv.deadline === undefined
            ? {}
            : { deadline: setDeadline(readDuration('--deadline', argv.deadline, 'refused'), argv.deadline, io) };
        const pipeline = await readPipeline(await findPipeline(argv.pipeline, process.env), process.env);
        if (argv.lake !== undefined) pipeline.lake.path = argv.lake;
        io.protectSecret(pipeline.source.apiKey);
        if (argv.reconcile) pipeline.source.mode = 'snapshot';
        const options = { publishHeld: argv['publish-held'], caps: readCaps(argv), ...deadline };
        const sync = () => syncPipeline(pipeline, io, signal, options);
        let report = await sync();
        // An interrupted run comes first, in its own mode.
        if (argv.reconcile && report.row.mode !== 'snapshot') report = await sync();
        await say(formatReport(report, pipeline.lake.path, style));
        return describeReport(report, pipeline.lake.path);
      },
      RESUME_HINT,
    ),
};
