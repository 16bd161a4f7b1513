import { parseSize } from '../../config/units.js';
import { declareCommand } from '../command.js';
import { choice, type Form, flag, folder, repeated, text, value, whole } from '../parameter.js';
import { LAKE, OWN_LAKE, PIPELINE, REMOTE } from '../shared-options.js';

export const status = declareCommand({
  name: 'status',
  describe: 'Show what the lake holds now',
  arguments: { pipeline: PIPELINE },
  options: {
    lake: LAKE,
    ...REMOTE,
    online: flag('Ask the service how far the lake is behind (two calls); the default if you pass a pipeline file'),
  },
  examples: [
    ['pricelake status --lake ./lake', 'Makes no calls: shows run, cursor, held batch, lock, last known budget'],
    ['pricelake status prices.yaml --json', 'Also shows the lag behind the feed; one line of JSON'],
  ],
  notes: "Also shows what is pending, how the last runs went, and what is left of this month's quota.",
});

export const check = declareCommand({
  name: 'check',
  describe: 'Find bad data in the tables',
  arguments: { pipeline: PIPELINE },
  options: {
    lake: LAKE,
    checks: folder(
      'Folder of your own checks (*.sql), which run in addition to the built-in ones; default checksFolder of the pipeline file',
    ),
    failOn: choice(['gate', 'error', 'warn'], 'Exit with 3 if a check of this severity or higher finds something', {
      default: 'error',
    }),
    select: repeated(text('Only these checks', { completes: 'checks' }), 'words'),
    all: flag('Also list the checks that passed'),
  },
  examples: [
    ['pricelake check', 'Run all checks and show what they found; exits with 3 if a gate or an error fails'],
    ['pricelake check other.yaml', 'Use the severities, thresholds and checks of another pipeline file'],
    ['pricelake check --fail-on warn --select gtin_check_digit', 'One check; even a warning exits with 3'],
  ],
  notes: `A check is an SQL file in pipelines/checks, or in your own folder. Every row that its SELECT returns is a violation. The header sets the severity and says what to do next:
    -- name: no_free_kettles
    -- severity: warn                (gate, error or warn; a gate holds the batch)
    -- description: No listed kettle costs less than a limit.
    -- next: Look at the item's page.
    -- parameter: limit DOUBLE default 1: lowest price
The SQL reads the parameter as $limit, and checks: in the pipeline file sets it.`,
});

export const verify = declareCommand({
  name: 'verify',
  describe: 'Prove that every file is intact',
  arguments: { pipeline: PIPELINE },
  options: {
    lake: LAKE,
    items: whole('Compare this many items with the service, one call each; every run picks a different sample', {
      from: 0,
    }),
    sample: whole('Read the values of only this many row groups, a different set after each sync; default all', {
      from: 0,
    }),
  },
  examples: [
    ['pricelake verify', 'Read every file and every value; exits with 3 if something is wrong'],
    ['pricelake verify --sample 50 --json', 'Every checksum and footer, but values of only 50 row groups'],
    ['pricelake verify --items 500', 'Compare 500 items with the service, value by value'],
  ],
  notes:
    'Reads logs, bytes, rows, statistics, cursors and row equations. Takes no lock, changes nothing, and makes no calls without --items. To repair a lake, use lake rebuild or sync --reconcile.',
});

export const lake = declareCommand({
  name: 'lake',
  describe: 'Rebuild, compact or restore the lake',
  examples: [['pricelake lake rebuild --lake /data/lake', 'Repair damaged files from the kept raw bytes']],
});

export const lakeRebuild = declareCommand({
  name: 'lake rebuild',
  describe: 'Rebuild every table from the kept raw bytes, without any calls',
  arguments: { pipeline: PIPELINE },
  options: {
    lake: folder('Folder of the lake; needs no pipeline file'),
    acceptLoss: flag(
      'Rebuild even if rows are lost that only damaged tables had; without it, rebuild then does nothing',
    ),
  },
  examples: [
    ['pricelake lake rebuild', 'After an update, or to apply a new lake.tables.items.partitionBy'],
    ['pricelake lake rebuild --lake /data/lake', 'The same without an API key: repair damaged files'],
  ],
  notes:
    'landing.keep sets how long raw bytes are kept. The tables stay unchanged until all new ones are ready; then rebuild replaces them one by one. Logs, lake.json and format.json may be damaged or in another format: the raw bytes are enough.',
  aliases: { rebuild: {} },
});

const FILE_SIZE: Form<number> = { what: 'a size such as 64MB or 1GB', parse: parseSize, placeholder: 'SIZE' };

export const lakeCompact = declareCommand({
  name: 'lake compact',
  describe: 'Merge small files, without changing any rows',
  options: {
    lake: LAKE,
    fileSize: value(FILE_SIZE, 'Maximum size of a merged file, such as 64MB or 1GB; default 128MB'),
  },
  examples: [['pricelake lake compact --lake /data/lake', 'Leaves one file for each closed day of history']],
  notes:
    'sync does this automatically if a partition has more than 16 small files. compact also rewrites files that another program wrote. Its Delta commits contain the same rows (dataChange false).',
  aliases: { compact: {} },
});

export const lakeRestore = declareCommand({
  name: 'lake restore',
  describe: 'Download the complete lake from its remote (lake.remote) into its folder',
  arguments: { pipeline: PIPELINE },
  options: { lake: OWN_LAKE },
  examples: [['pricelake lake restore /etc/prices.yaml', 'Into lake.path, which may be empty']],
  notes:
    'On an empty disk, sync fetches only the files that it needs. restore fetches the others, and later runs keep the folder complete. It locks the remote as a run does, and makes no calls to the service. If it stops, run it again: it skips files that are already there.',
  aliases: { restore: {} },
});
