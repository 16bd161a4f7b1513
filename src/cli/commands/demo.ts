import { declareCommand } from '../command.js';
import { folder, whole } from '../parameter.js';

export const demo = declareCommand({
  name: 'demo',
  describe:
    'Show everything on the embedded sandbox: copy, sync, checks, price spread; needs no network and no account',
  options: {
    lake: folder('Folder of the lake; replaced if it exists', { default: './demo-lake' }),
    keep: folder('Keep the lake and the HTML report in this folder: DIR/lake, DIR/report.html'),
    items: whole('Listings of the sandbox', { from: 1, default: 20_000 }),
  },
  examples: [
    ['pricelake demo', 'Takes about half a minute'],
    ['pricelake demo --items 1000000 --keep /tmp/demo', 'A million listings; open /tmp/demo/report.html afterwards'],
  ],
});
