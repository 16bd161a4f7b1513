import { declareCommand } from '../command.js';
import { flag, folder } from '../parameter.js';
import { PIPELINE } from '../shared-options.js';

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
    'Raw bytes are kept for landing.keep. The tables stay as they are until all new ones are made; then they are replaced one by one. Logs, lake.json and format.json may be damaged: the raw bytes are enough.',
});
