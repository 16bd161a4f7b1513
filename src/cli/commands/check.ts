import { declareCommand } from '../command.js';
import { choice, folder, repeated, text } from '../parameter.js';
import { LAKE, PIPELINE } from '../shared-options.js';

export const check = declareCommand({
  name: 'check',
  describe: 'Check the published tables',
  arguments: { pipeline: PIPELINE },
  options: {
    lake: LAKE,
    checks: folder(
      'Folder with your own checks (*.sql), beside the shipped ones; default checksFolder of the pipeline file',
    ),
    failOn: choice(
      ['gate', 'error', 'warn'],
      'Exit with 3 if a check of this severity or a higher one finds something',
      { default: 'error' },
    ),
    select: repeated(text('Only these checks', { completes: 'checks' }), 'words'),
  },
  examples: [
    ['pricelake check', 'All checks; exit 3 if a gate or an error fails'],
    ['pricelake check other.yaml', 'With the severities, thresholds and checks of another pipeline file'],
    ['pricelake check --fail-on warn --select gtin_check_digit', 'One check, strictly'],
  ],
  notes: `A check is a file in pipelines/checks, or in a folder of your own. The rows that its SELECT returns are violations. Its header says how severe they are and what to do next:
    -- name: no_free_kettles
    -- severity: warn                (gate, error or warn; a gate holds the batch)
    -- description: No listed kettle costs less than a limit.
    -- next: Look at the item's page.
    -- parameter: limit DOUBLE default 1: lowest price
The SQL reads the parameter as $limit, and checks: in the pipeline file sets it.`,
});
