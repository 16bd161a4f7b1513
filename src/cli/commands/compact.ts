import { parseSize } from '../../config/size.js';
import { declareCommand } from '../command.js';
import { type Form, value } from '../parameter.js';
import { LAKE } from '../shared-options.js';

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
    'sync does this by itself if a partition has more than 16 small files. compact also rewrites files that lack a new column of their table, and moves files that older versions kept in folders. It makes Delta commits of the same rows (dataChange false).',
});
