import { parseSize } from '../../config/units.js';
import { declareCommand } from '../command.js';
import { choice, type Form, flag, folder, repeated, text, value, whole } from '../parameter.js';
import { LAKE, OWN_LAKE, PIPELINE, REMOTE } from '../shared-options.js';

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
    all: flag('List the checks that passed, too'),
  },
  examples: [
    ['pricelake check', 'Run all checks, show what they found; exit 3 if a gate or an error fails'],
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

export const rebuild = declareCommand({
  name: 'rebuild',
  describe: 'Rebuild every table from the kept raw bytes, without a call',
  arguments: { pipeline: PIPELINE },
  options: {
    lake: folder('Folder of the lake; needs no pipeline file'),
    acceptLoss: flag('Continue even if rows are lost that only damaged tables had; without it, nothing is done'),
  },
  examples: [
    ['pricelake rebuild', 'After an update, or with another lake.tables.items.partitionBy'],
    ['pricelake rebuild --lake /data/lake', 'The same without a key: repair damaged files'],
  ],
  notes:
    'Raw bytes are kept for landing.keep. The tables stay as they are until all new ones are made; then they are replaced one by one. Logs, lake.json and format.json may be damaged or of another format: the raw bytes are enough.',
});

const FILE_SIZE: Form<number> = { what: 'a size such as 64MB or 1GB', parse: parseSize, placeholder: 'SIZE' };

export const compact = declareCommand({
  name: 'compact',
  describe: 'Join small files, without changing any row',
  options: {
    lake: LAKE,
    fileSize: value(FILE_SIZE, 'Size up to which files are joined, such as 64MB or 1GB; default 128MB'),
  },
  examples: [['pricelake compact --lake /data/lake', 'One file for each closed day of history']],
  notes:
    'sync does this by itself if a partition has more than 16 small files. compact also rewrites files that another program wrote. It makes Delta commits of the same rows (dataChange false).',
});

export const restore = declareCommand({
  name: 'restore',
  describe: 'Fetch the whole lake from its remote (lake.remote) into its folder',
  arguments: { pipeline: PIPELINE },
  options: { lake: OWN_LAKE },
  examples: [['pricelake restore /etc/prices.yaml', 'Into lake.path, which may be empty']],
  notes:
    'On an empty disk, sync fetches only the files that it needs. restore fetches the others, and later runs keep the folder whole. It holds the remote as a run does, and makes no call to the service. If it stops, run it again: files that are there already are not fetched twice.',
});
