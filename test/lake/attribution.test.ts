import { expect, test } from 'vitest';
import { describeAttributions, readAttributions, writeAttributions } from '../../src/lake/attribution.js';
import { openDatabase, select } from './fixture.js';

test('a lake without open data says that it requires no credits', () => {
  expect(writeAttributions([])).toContain('No site in this lake requires a credit.');
});

test('the newest credit of each site is kept, even if the service has dropped it since', async () => {
  const db = await openDatabase();
  const rows = [
    [12, 'Shop', 'old', 1],
    [12, 'Store', 'CC BY', 2],
    [3, 'Other', 'CC0', 1],
    [3, 'Other', null, 2],
    [7, 'No license', null, 1],
  ].map(([id, name, text, day]) => `(${id}, '${name}', ${text === null ? 'NULL' : `'${text}'`}, ${day})`);
  const values = {
    site_id: 'id',
    name: 'n',
    host: "n || '.example'",
    attribution: 't',
    valid_from: "TIMESTAMPTZ '2026-11-01 00:00:00+00' + to_days(d)",
  };
  const from = `(VALUES ${rows.join(', ')}) AS v(id, n, t, d)`;
  await db.run(`CREATE TABLE "the sites" AS ${select('sites', values, from)}`);
  expect(await readAttributions(db, '"the sites"')).toEqual([
    { siteId: 3n, name: 'Other', host: 'Other.example', attribution: 'CC0' },
    { siteId: 12n, name: 'Store', host: 'Store.example', attribution: 'CC BY' },
  ]);
});

test('a data file contains all credits as one text, and none if no site requires any', () => {
  expect(describeAttributions([])).toEqual({});
  const credits = [
    { siteId: 2n ** 60n, name: 'A', host: 'a.example', attribution: 'CC "BY"' },
    { siteId: 3n, name: 'B', host: 'b.example', attribution: 'CC0' },
  ];
  const { 'pricelake.attribution': text = '', ...others } = describeAttributions(credits);
  expect(others).toEqual({});
  expect(JSON.parse(text)).toEqual([
    { site_id: '1152921504606846976', name: 'A', host: 'a.example', attribution: 'CC "BY"' },
    { site_id: '3', name: 'B', host: 'b.example', attribution: 'CC0' },
  ]);
});

test('the credits of sites follow an explanation of their purpose', () => {
  const credit = (siteId: bigint) => ({ siteId, name: 'A', host: 'a.example', attribution: 'CC0' });
  const write = (...credits: ReturnType<typeof credit>[]) => writeAttributions(credits);
  expect(write(credit(10n))).toBe(
    '# Attribution\n\nThe data of these sites may be passed on only together with their license and credit texts.\n' +
      '\n## A\n\na.example, site 10\n\n> CC0\n',
  );
  expect(write(credit(10n), credit(2n ** 60n)).match(/site \d+/g)).toEqual(['site 10', `site ${2n ** 60n}`]);
});

test.each([
  ['  - a', '\\- a'],
  ['+ a - b = c', '\\+ a - b = c'],
  ['=', '\\='],
  ['12) a', '12\\) a'],
  ['12 a, 3.', '12 a, 3.'],
  ['a # b 1. c', 'a # b 1. c'],
  ['a\u0007\u2028\u2029b\\`|~&', 'a b\\\\\\`\\|\\~\\&'],
])('the text %j is escaped in Markdown as %j', (text, markdown) => {
  const written = writeAttributions([{ siteId: 1n, name: text, host: text, attribution: text }]);
  expect(written.split('\n').slice(4)).toEqual([`## ${markdown}`, '', `${markdown}, site 1`, '', `> ${markdown}`, '']);
});

test('the lines of a credit remain separate lines, whatever their line ends', () => {
  const text = writeAttributions([{ siteId: 1n, name: 'A', host: 'a', attribution: 'one\rtwo\n \nthree\r\nfour' }]);
  expect(text.slice(text.indexOf('>'))).toBe('> one  \n> two  \n>  \n> three  \n> four\n');
});
