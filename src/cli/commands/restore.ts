import { declareCommand } from '../command.js';
import { OWN_LAKE, PIPELINE } from '../shared-options.js';

export const restore = declareCommand({
  name: 'restore',
  describe: 'Fetch the whole lake from its remote (lake.remote) into its folder',
  arguments: { pipeline: PIPELINE },
  options: { lake: OWN_LAKE },
  examples: [['pricelake restore /etc/prices.yaml', 'Into lake.path, which may be empty']],
  notes:
    'On an empty disk, sync fetches only the files that it needs. restore fetches the others, and later runs keep the folder whole. It holds the remote as a run does, and makes no call to the service. If it stops, run it again: files that are there already are not fetched twice.',
});
