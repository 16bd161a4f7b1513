import type { CommandModule } from 'yargs';
import { runCommand } from '../run-command.js';

interface DemoArguments {
  lake: string;
  keep: string | undefined;
  items: number;
}

export const demoCommand: CommandModule<object, DemoArguments> = {
  command: 'demo',
  describe:
    'Show everything on the embedded sandbox: copy, sync, checks, price spread; needs no network and no account',
  builder: (yargs) =>
    yargs
      .option('lake', {
        type: 'string',
        default: './demo-lake',
        requiresArg: true,
        describe: 'Folder of the lake; replaced if it exists',
      })
      .option('keep', {
        type: 'string',
        requiresArg: true,
        describe: 'Keep the lake and the HTML report in this folder: DIR/lake, DIR/report.html',
      })
      .option('items', { type: 'number', default: 20_000, requiresArg: true, describe: 'Listings of the sandbox' })
      .example('$0 demo', 'Takes about half a minute')
      .example('$0 demo --items 1000000 --keep /tmp/demo', 'A million listings; open /tmp/demo/report.html afterwards'),
  handler: (argv) =>
    runCommand(argv, async (context) => (await import('../actions/run-demo.js')).runDemo(argv, context)),
};
