import { declareCommand } from '../command.js';
import { file, folder } from '../parameter.js';

export const init = declareCommand({
  name: 'init',
  describe: 'Write a pipeline file with every option explained',
  arguments: { file: file('Where to write it', { default: 'prices.yaml' }) },
  options: { lake: folder('Folder of the lake, as lake.path') },
  examples: [
    ['pricelake init', 'Writes prices.yaml, which commands find in this folder; overwrites nothing'],
    ['pricelake init /etc/pricelake/prices.yaml --lake /data/lake', 'For a scheduler'],
  ],
  notes:
    'On a terminal, init asks for the address of the service and the key, checks both with one call, and keeps them in .env. Commands read .env in the current folder; variables that are already set take precedence.',
});
