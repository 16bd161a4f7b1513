import type { CommandModule } from 'yargs';
import { LAKE_OPTION } from '../lake-option.js';
import { runCommand } from '../run-command.js';

export const compactCommand: CommandModule<object, { lake: string | undefined; 'file-size': string | undefined }> = {
  command: 'compact',
  describe: 'Join small files: the same rows in fewer of them',
  builder: (yargs) =>
    yargs
      .option('lake', LAKE_OPTION)
      .option('file-size', {
        type: 'string',
        requiresArg: true,
        describe: 'Size up to which files are joined, e.g. 64MB or 1GB; default 128MB',
      })
      .example('$0 compact --lake /data/lake', 'One file for each day of history that is over')
      .epilogue(
        'sync does this by itself when a partition has more than 16 small files. Here files are also rewritten that are older than a column of their table, so that all have it, and files of older versions come out of their folders. Every table stays the Delta table that it is: a commit of the same rows (dataChange false).',
      ),
  handler: (argv) =>
    runCommand(argv, async (context) => (await import('../actions/run-compact.js')).runCompact(argv, context)),
};
