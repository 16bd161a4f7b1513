import { declareCommand } from '../command.js';
import { flag } from '../parameter.js';
import { CAPS, OWN_LAKE, PIPELINE } from '../shared-options.js';

export const plan = declareCommand({
  name: 'plan',
  describe: 'Show what the next sync would do and cost; change nothing',
  arguments: { pipeline: PIPELINE },
  options: { lake: OWN_LAKE, reconcile: flag('Plan sync --reconcile, a complete comparison'), ...CAPS },
  examples: [
    ['pricelake plan', 'Mode, calls, export rows, overage, and what is left of the month'],
    ['pricelake plan --max-overage 2 --json', 'If two blocks of overage are allowed; as one JSON object'],
  ],
  notes:
    'Exits with 5 if sync would refuse to start, or stop before its end. plan makes up to seven calls itself: for the plan, the newest change, a page of changes, and counts of items. Its result names them, and they count like all others.',
});
