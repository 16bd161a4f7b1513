import { expect, test } from 'vitest';
import { writeAttributions } from '../../src/lake/attribution.js';

test('licence texts keep their words and lines, and can’t become mark-up', () => {
  const text = writeAttributions([
    {
      siteId: 12n,
      name: '# Shop *A*',
      host: 'a.example',
      attribution: '1. Data: <b>Open</b> [x](javascript:y)\r\n\r\n- CC-BY_4.0',
    },
    { siteId: 3n, name: 'Shop\nB', host: 'b.example', attribution: '© B & Co.' },
  ]);
  expect(text.split('\n').slice(4)).toEqual([
    '## Shop B',
    '',
    'b.example, site 3',
    '',
    '> © B \\& Co.',
    '',
    '## \\# Shop \\*A\\*',
    '',
    'a.example, site 12',
    '',
    '> 1\\. Data: \\<b\\>Open\\</b\\> \\[x\\](javascript:y)  ',
    '>  ',
    '> \\- CC-BY\\_4.0',
    '',
  ]);
});

test('a lake without open data says so', () => {
  expect(writeAttributions([])).toContain('No site in this lake asks for a credit.');
});
