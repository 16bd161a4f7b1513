import { declareCommand } from '../command.js';
import { OWN_LAKE, PIPELINE } from '../shared-options.js';

export const doctor = declareCommand({
  name: 'doctor',
  describe: 'Check everything that a sync needs, and say how to fix what is wrong',
  arguments: { pipeline: PIPELINE },
  options: { lake: OWN_LAKE },
  examples: [
    ['pricelake doctor', 'Node, pipeline file, disk, file system, service, key, plan, clock, lake, remote'],
    ['pricelake doctor --json', 'The same for a monitoring system'],
  ],
  notes:
    'Makes one call and changes nothing. Exits with 0 if a sync can run, even with warnings, and with 3 if something failed.',
});
