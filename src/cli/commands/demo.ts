import type { CommandModule } from 'yargs';
import { runCommand } from '../run-command.js';

interface DemoArguments {
  lake: string;
  items: number;
}

export const demoCommand: CommandModule<object, DemoArguments> = {
  command: 'demo',
  describe: 'See it all on the embedded sandbox: copy, sync, check, price spread. Needs no network and no account',
  builder: (yargs) =>
    yargs
      .option('lake', {
        type: 'string',
        default: './demo-lake',
        requiresArg: true,
        describe: 'Folder of the lake; replaced if it exists',
      })
      .option('items', { type: 'number', default: 20_000, requiresArg: true, describe: 'Listings of the sandbox' })
      .example('$0 demo', 'Takes about half a minute')
      .example('$0 demo --items 1000000 --lake /tmp/lake', 'The same with a million listings'),
  handler: (argv) =>
    runCommand(argv, async (context) => (await import('../actions/run-demo.js')).runDemo(argv, context)),
};
