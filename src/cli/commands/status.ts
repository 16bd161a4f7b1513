import { declareCommand } from '../command.js';
import { flag } from '../parameter.js';
import { LAKE, PIPELINE, REMOTE } from '../shared-options.js';

export const status = declareCommand({
  name: 'status',
  describe: 'Show what the lake holds, what waits, how the last runs went and what is left of the month',
  arguments: { pipeline: PIPELINE },
  options: {
    lake: LAKE,
    ...REMOTE,
    online: flag('Ask the service how far the lake is behind (two calls); the default if you name a pipeline file'),
  },
  examples: [
    ['pricelake status --lake ./lake', 'Without a call: run, cursor, held batch, lock, last known budget'],
    ['pricelake status prices.yaml --json', 'With the lag behind the feed, as one line of JSON'],
  ],
});
