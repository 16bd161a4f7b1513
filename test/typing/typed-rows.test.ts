import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { FEW_ROWS } from '../../src/sql/graph.js';
import { quoteLiteral } from '../../src/sql/quote.js';
import { sql } from '../../src/sql/sql.js';
import type { TypedFile } from '../../src/typing/type-file.js';
import { ItemReader } from '../../src/typing/typed-rows.js';
import { at, item, openModels, type Row, shown } from '../apply/model-world.js';
import { makeFolder } from '../journal/folder.js';
import { loadRows } from '../load-rows.js';

const { db, graph } = await openModels();

/** Writes a typed file of these rows; `rows` is the row count that it reports. */
async function writeTyped(
  part: string,
  items: Row[],
  rows: number,
  origin: TypedFile['origin'] = 'page',
): Promise<TypedFile> {
  await loadRows(db, 'typed', 'items', items);
  const typedPath = path.join(await makeFolder(), `${part}.parquet`);
  await db.run(`COPY (SELECT *, ${quoteLiteral(part)} AS part, NULL::VARCHAR AS site_attribution, NULL::VARCHAR AS reject_reason
    FROM typed) TO ${quoteLiteral(typedPath)} (FORMAT parquet)`);
  return { typedPath, part, origin, rows, rejected: 0, sources: [part] };
}

/** Item 1 moved while pages were read, so that two of them have it; item 3 is twice on one page. */
const PAGES: Row[][] = [
  [item({ item_id: 1, title: 'before', last_changed_at: at(5) }), item({ item_id: 2, title: 'once' })],
  [
    item({ item_id: 1, title: 'after', last_changed_at: at(6) }),
    item({ item_id: 3, title: 'seen later', last_seen_at: at(7) }),
    item({ item_id: 3, title: 'seen earlier', last_seen_at: at(6) }),
  ],
];

async function writePages(name: string, rows: number): Promise<TypedFile[]> {
  const files: TypedFile[] = [];
  for (const [i, page] of PAGES.entries()) files.push(await writeTyped(`${name}-${i}`, page, rows));
  return files;
}

describe.each([
  ['few', 'table', 5],
  ['many', 'view', Number(FEW_ROWS) + 1],
])('of %s items, which are a %s,', (_, kind, rows) => {
  test('each item occurs once, with its newest row', async () => {
    const read = await new ItemReader(graph, null).exported(await writePages(kind, rows));
    expect(read.tally).toEqual({ typed: 5n, repeated: 2n });
    const found = await graph.rows(sql`SELECT item_id, title, last_changed_at FROM ${read.rows} ORDER BY item_id`);
    expect(found.map((row) => Object.values(row).map(String))).toEqual([
      ['1', 'after', shown(6)],
      ['2', 'once', shown(5)],
      ['3', 'seen later', shown(5)],
    ]);
  });
});

test('complete rows are selected by their origin', async () => {
  const files = [
    await writeTyped('page', [item({ item_id: 1 })], 1),
    await writeTyped('export', [item({ item_id: 2 })], 1, 'export'),
    await writeTyped('reread', [item({ item_id: 3 })], 1, 'reread'),
  ];
  const reader = new ItemReader(graph, null);
  const read = await Promise.all([reader.exported(files), reader.reread(files), reader.reread([])]);
  const ids = read.map(({ rows }) => graph.rows(sql`SELECT item_id FROM ${rows} ORDER BY ALL`));
  expect((await Promise.all(ids)).map((rows) => rows.map((row) => row.item_id))).toEqual([[1n, 2n], [3n], []]);
  expect(read.map(({ tally }) => tally.typed)).toEqual([2n, 1n, 0n]);
  expect(reader.reread(files)).toBe(reader.reread(files));
});
