import { parseSize } from '../../config/units.js';
import { declareCommand } from '../command.js';
import { choice, type Form, flag, folder, repeated, text, value, whole } from '../parameter.js';
import { LAKE, OWN_LAKE, PIPELINE, REMOTE } from '../shared-options.js';

export const status = declareCommand({
  name: 'status',
  describe: 'Show the state of the lake',
  arguments: { pipeline: PIPELINE },
  options: {
    lake: LAKE,
    ...REMOTE,
    online: flag(
      'Check with the service how far behind the lake is (two calls); the default if you pass a pipeline file',
    ),
  },
  examples: [
    [
      'pricelake status --lake ./lake',
      'Show the run, cursor, held batch, lock and last known budget, without any calls',
    ],
    ['pricelake status prices.yaml --json', 'Also show the lag behind the feed, as one line of JSON'],
  ],
  notes: 'Also shows pending work, the last runs, and the quota left this month.',
});

export const check = declareCommand({
  name: 'check',
  describe: 'Find bad data in the tables',
  arguments: { pipeline: PIPELINE },
  options: {
    lake: LAKE,
    checks: folder(
      'Folder with your own checks (*.sql), which run in addition to the built-in checks; default: checksFolder in the pipeline file',
    ),
    failOn: choice(['gate', 'error', 'warn'], 'Exit with 3 if a check of this severity or higher finds violations', {
      default: 'error',
    }),
    select: repeated(text('Run only these checks', { completes: 'checks' }), 'words'),
    all: flag('Also list the checks that passed'),
  },
  examples: [
    [
      'pricelake check',
      'Run all checks and show the violations; exits with 3 if a check of severity gate or error fails',
    ],
    ['pricelake check other.yaml', 'Use the severities, thresholds and checks of another pipeline file'],
    ['pricelake check --fail-on warn --select gtin_check_digit', 'One check; even a warning exits with 3'],
  ],
  notes: `A check is an SQL file in pipelines/checks, or in your own folder. Every row that its SELECT returns is a violation. The header sets the severity and describes what to do next:
    -- name: no_free_kettles
    -- severity: warn                (gate, error or warn; a gate holds the batch)
    -- description: No listed kettle costs less than a limit.
    -- next: Look at the item's page.
    -- parameter: limit DOUBLE default 1: lowest price
The SQL refers to the parameter as $limit. Its value can be set under checks in the pipeline file.`,
});

export const verify = declareCommand({
  name: 'verify',
  describe: 'Prove that every file is intact',
  arguments: { pipeline: PIPELINE },
  options: {
    lake: LAKE,
    items: whole('Compare this number of items with the service, one call each; every run picks a different sample', {
      from: 0,
    }),
    sample: whole('Read the values of only this number of row groups, a different set after each sync; default: all', {
      from: 0,
    }),
  },
  examples: [
    ['pricelake verify', 'Read every file and every value; exits with 3 if something is wrong'],
    ['pricelake verify --sample 50 --json', 'Check every checksum and footer, but the values of only 50 row groups'],
    ['pricelake verify --items 500', 'Compare 500 items with the service, value by value'],
  ],
  notes:
    'Checks logs, bytes, rows, statistics, cursors and row counts. Takes no lock, changes nothing, and makes no calls without --items. To repair a lake, use lake rebuild or sync --reconcile.',
});

export const lake = declareCommand({
  name: 'lake',
  describe: 'Rebuild, compact or restore the lake',
  examples: [['pricelake lake rebuild --lake /data/lake', 'Repair damaged files from the saved raw data']],
});

export const lakeRebuild = declareCommand({
  name: 'lake rebuild',
  describe: 'Rebuild every table from the saved raw data, without any API calls',
  arguments: { pipeline: PIPELINE },
  options: {
    lake: folder("Lake folder; a pipeline file isn't needed"),
    acceptLoss: flag(
      'Rebuild even if rows that only damaged tables contained are lost; by default, the rebuild then changes nothing',
    ),
  },
  examples: [
    ['pricelake lake rebuild', 'Use this after an update, or to apply a new lake.tables.items.partitionBy'],
    ['pricelake lake rebuild --lake /data/lake', 'Repair damaged files without an API key'],
  ],
  notes:
    'landing.keep sets how long raw data is kept. The tables stay unchanged until all new ones are ready; then rebuild replaces them one by one. A rebuild needs only the raw data, so logs, lake.json and format.json may be damaged or in another format.',
  aliases: { rebuild: {} },
});

const FILE_SIZE: Form<number> = { what: 'a size such as 64MB or 1GB', parse: parseSize, placeholder: 'SIZE' };

export const lakeCompact = declareCommand({
  name: 'lake compact',
  describe: 'Merge small files, without changing any rows',
  options: {
    lake: LAKE,
    fileSize: value(FILE_SIZE, 'Maximum size of a merged file, such as 64MB or 1GB; default: 128MB'),
  },
  examples: [['pricelake lake compact --lake /data/lake', 'Leave one file for each closed day of history']],
  notes:
    'sync does this automatically if a partition has more than 16 small files. compact also rewrites files that another program wrote. Its Delta commits contain the same rows (dataChange false).',
  aliases: { compact: {} },
});

export const lakeRestore = declareCommand({
  name: 'lake restore',
  describe: 'Download the complete lake from its remote (lake.remote) into its folder',
  arguments: { pipeline: PIPELINE },
  options: { lake: OWN_LAKE },
  examples: [['pricelake lake restore /etc/prices.yaml', 'Download to lake.path, which may be empty']],
  notes:
    'On an empty disk, sync downloads only the files that it needs. restore downloads the others, and later runs keep the folder complete. It locks the remote as a run does, and makes no calls to the service. If it stops, run it again; it skips files that are already complete.',
  aliases: { restore: {} },
});
