import type { CommandModule } from 'yargs';
import { LAKE_OPTION } from '../lake-option.js';
import { runCommand } from '../run-command.js';

export const compactCommand: CommandModule<object, { lake: string | undefined; 'file-size': string | undefined }> = {
  command: 'compact',
  describe: 'Join small files, without changing any row',
  builder: (yargs) =>
    yargs
      .option('lake', LAKE_OPTION)
      .option('file-size', {
        type: 'string',
        requiresArg: true,
        describe: 'Size up to which files are joined, such as 64MB or 1GB; default 128MB',
      })
      .example('$0 compact --lake /data/lake', 'One file for each closed day of history')
      .epilogue(
        'sync does this by itself if a partition has more than 16 small files. compact also rewrites files that another program wrote. It makes Delta commits of the same rows (dataChange false).',
      ),
  handler: (argv) =>
    runCommand(argv, async (context) => (await import('../actions/run-compact.js')).runCompact(argv, context)),
};
