import { declareCommand } from '../command.js';
import { whole } from '../parameter.js';
import { LAKE, PIPELINE } from '../shared-options.js';

export const verify = declareCommand({
  name: 'verify',
  describe:
    'Prove that the lake is whole: logs, bytes, rows, statistics, cursors, row equations; and that it matches the service',
  arguments: { pipeline: PIPELINE },
  options: {
    lake: LAKE,
    items: whole('Compare this many items with the service, one call each; each run draws others', { from: 0 }),
    sample: whole('Read the values of only this many row groups, others after each sync; default all', { from: 0 }),
  },
  examples: [
    ['pricelake verify', 'Read every file and every value; exit 3 if something is wrong'],
    ['pricelake verify --sample 50 --json', 'Every checksum and footer, but the values of only 50 row groups'],
    ['pricelake verify --items 500', 'Compare 500 items value by value with the service'],
  ],
  notes:
    'Makes no call without --items, takes no lock and changes nothing. Repair with rebuild, or with sync --reconcile.',
});
