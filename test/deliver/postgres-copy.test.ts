import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { holdsJson, writeCopyText } from '../../src/deliver/postgres-copy.js';
import { loadTableSchema } from '../../src/tables/schemas.js';
import { TABLE_NAMES } from '../../src/tables/table.js';
import { makeFolder, openDatabase } from '../lake/fixture.js';

test('the columns that hold JSON are those whose descriptions say so', () => {
  const named = TABLE_NAMES.flatMap((table) =>
    loadTableSchema(table)
      .columns.filter(holdsJson)
      .map(({ name }) => `${table}.${name}`),
  );
  expect(named).toEqual(expect.arrayContaining(['items.attributes', 'items.extra', 'history.changes']));
  expect(named.filter((name) => !name.startsWith('runs.'))).toHaveLength(5);
});

test('rows are valid COPY text: nulls, escapes, exact digits, instants in UTC, arrays', async () => {
  const db = await openDatabase();
  const file = join(await makeFolder(), 'rows');
  const columns = loadTableSchema('items').columns.filter(({ name }) =>
    ['item_id', 'title', 'price', 'first_seen_at', 'datasets', 'attributes', 'is_listed'].includes(name),
  );
  const row = (values: string) =>
    `SELECT * FROM (VALUES ${values}) AS t(item_id, title, price, attributes, datasets, first_seen_at, is_listed)`;
  const select = row(`
    (9007199254740993, 'a"b\\' || chr(9) || chr(10) || chr(13) || chr(0) || '.', 99999999999999.0001::DECIMAL(18,4),
     '{"a":"\\u0000\\u0000","b":"\\\\u0000","c":"\\\\\\u0000"}', ['x', NULL, 'a,"b\\', ''], TIMESTAMPTZ '2026-01-01 00:00:00.000001+00', true),
    (1, '', NULL, NULL, [], NULL, false), (2, '\\N', 0, '{}', NULL, NULL, NULL)`);
  const counted = await db.rows(writeCopyText(select, columns, file));
  expect(counted).toEqual([{ Count: 3n }]);
  expect((await readFile(file, 'utf8')).split('\n')).toEqual([
    String.raw`9007199254740993	a"b\\\t\n\r` +
      '\ufffd.' +
      String.raw`	99999999999999.0001	{"a":"\\ufffd\\ufffd","b":"\\\\u0000","c":"\\\\\\ufffd"}	{"x",NULL,"a,\\"b\\\\",""}	2026-01-01 00:00:00.000001+00	true`,
    String.raw`1		\N	\N	{}	\N	false`,
    String.raw`2	\\N	0.0000	{}	\N	\N	\N`,
    '',
  ]);
});
