/** Values from CSV exports, whose records may contain newlines, quotes, and renamed columns. */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readJsonLine, runHere } from '../cli/pricelake.js';
import { openStory } from '../front/story.js';

interface Value {
  column: string;
  value: string | null;
  how: string;
  by?: { kind: string; raw?: string; place?: { file: string; line: number } };
}

const TITLE = 'Radio "7"\nwith, a second line\r\nand a third';
const story = await openStory({ habits: { format: 'csv', csvMark: true, lineEnd: '\r\n' } });
story.at('17 08:00');
story.pipeline.landing.keep = 1e12;
// The service's columns for brand and part number have each other's names.
story.pipeline.source.mapping = { brand: 'mpn', mpn: 'brand' };
story.add({ title: 'Before', price: 990 });
story.add({ title: TITLE, brand: 'R-1', mpn: 'Acme', price: 12_345 });
story.add({ title: 'null', brand: null, price: 1000 });
story.add({ title: '"quoted"', price: 1100 });
await story.run();
afterAll(() => story.close());
const folder = path.dirname(story.lakePath);
await writeFile(
  path.join(folder, 'prices.yaml'),
  `source:\n  baseUrl: http://127.0.0.1:1\n  apiKey: "\${NOT_SET}"\n  mapping: { brand: mpn, mpn: brand }\nlake: { path: ${story.lakePath} }\n`,
);

const find = async (condition: string) => (await story.read(`SELECT item_id FROM items WHERE ${condition}`))[0] ?? '';

async function why(item: string): Promise<Map<string, Value>> {
  const told = readJsonLine(await runHere(['why', 'items', item, '--json'], { cwd: folder }));
  const [row = []] = told.rows as Value[][];
  return new Map(row.map((value) => [value.column, value]));
}

test('a value is traced to its record: the line on which the record begins, and the text of its cell', async () => {
  const item = await find('price = 123.45');
  const values = await why(item);
  expect(values.get('title')).toMatchObject({ value: TITLE, how: 'read', by: { kind: 'read', raw: TITLE } });
  expect(values.get('price')).toMatchObject({ value: '123.4500', by: { raw: '123.45' } });
  const { file = '', line = 0 } = values.get('title')?.by?.place ?? {};
  expect(file).toMatch(/\.csv$/u);
  const lines = (await readFile(path.join(story.lakePath, file), 'utf8')).split('\n');
  const record = lines.slice(line - 1, line + 2).join('\n');
  expect(record).toContain(item);
  expect(record).toContain('Radio ""7""\nwith, a second line\r\nand a third');
});

test('a record after one with newlines gets its own line number', async () => {
  const values = await why(await find('price = 11'));
  const { file = '', line = 0 } = values.get('title')?.by?.place ?? {};
  const lines = (await readFile(path.join(story.lakePath, file), 'utf8')).split('\n');
  expect(lines[line - 1]).toContain('"""quoted"""');
});

test('a cell that looks like JSON is read as text', async () => {
  expect((await why(await find('price = 11'))).get('title')).toMatchObject({ value: '"quoted"', how: 'read' });
  const values = await why(await find('price = 10'));
  expect(values.get('title')).toMatchObject({ value: 'null', how: 'read', by: { raw: 'null' } });
  expect(values.get('mpn')).toMatchObject({ value: null, how: 'read' });
});

test("columns that the pipeline file maps are found under the service's names", async () => {
  const values = await why(await find('price = 123.45'));
  expect(values.get('brand')).toMatchObject({ value: 'Acme', by: { raw: 'Acme' } });
  expect(values.get('mpn')).toMatchObject({ value: 'R-1', by: { raw: 'R-1' } });
});
