import { expect, test } from 'vitest';
import { readTable } from '../../src/lake/read.js';
import { runPricelake } from '../cli/pricelake.js';
import { ITEM, makeLake, openDatabase, select, write } from '../lake/fixture.js';

const TITLE = '\ufeffKaffee';

test('a U+FEFF at the beginning of a text is part of it: in values, in lists, and in the bounds of statistics', async () => {
  const [db, lake] = [await openDatabase(), await makeLake()];
  const row = await db.row('SELECT $1 AS text, [$1] AS list', [TITLE]);
  expect([row?.text, JSON.stringify(row?.list)]).toEqual([TITLE, JSON.stringify({ items: [TITLE] })]);
  await write(db, lake, { select: select('items', { ...ITEM, title: "chr(65279) || 'Kaffee'" }) });
  const [file] = (await readTable(lake, 'items')).files;
  const { minValues, maxValues } = JSON.parse(file?.stats ?? '') as Record<string, Record<string, unknown>>;
  expect([minValues?.title, maxValues?.title]).toEqual([TITLE, TITLE]);
  // The built command has the bindings in its bundle.
  const { stdout } = await runPricelake(['query', '--lake', lake.root, '--format', 'json', 'SELECT title FROM items']);
  expect(JSON.parse(stdout)).toEqual([{ title: TITLE }]);
});
