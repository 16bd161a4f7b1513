/** Tests the matrix of the reader's own products and all shops. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStory, type Story } from '../front/story.js';
import { type Explored, explore } from './explored.js';

const LINES = 60;
let story: Story;
let explored: Explored;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'explore-matrix-'));
  const list = join(folder, 'mine.csv');
  story = await openStory();
  story.at('17 08:00');
  const lines = ['product,price,currency'];
  for (let n = 0; n < LINES; n++) {
    const radio = { brand: 'Acme', mpn: `R-${n}`, title: `Radio ${n}` };
    story.add({ ...radio, siteId: 11n, price: 10_000 });
    story.add({ ...radio, siteId: 33n, price: 9_500 + n });
    if (n % 3 === 0) story.add({ ...radio, siteId: 22n, price: 9_500 + n });
    lines.push(`acme-r${n},${n === 1 ? '95.00' : '99.00'},EUR`);
  }
  lines.push('acme-none,5.00,EUR');
  await writeFile(list, lines.join('\n'));
  await story.run();
  explored = await explore(story, { list });
});
afterAll(async () => {
  await explored.close();
  await story.close();
  await rm(folder, { recursive: true });
});

const toText = (html: string) =>
  html
    .replaceAll(/<[^>]*>/gu, ' ')
    .replaceAll(/\s+/gu, ' ')
    .trim();

function readMatrix(page: string): { head: string[]; rows: string[][] } {
  const [, table = ''] = /<table class="matrix">([\s\S]*?)<\/table>/u.exec(page) ?? [];
  const cells = (row: string) =>
    [...row.matchAll(/<t[hd]\b[^>]*>([\s\S]*?)<\/t[hd]>/gu)].map(([, cell = '']) => toText(cell));
  const [head = [], ...rows] = [...table.matchAll(/<tr>([\s\S]*?)<\/tr>/gu)].map(([, row = '']) => cells(row));
  return { head, rows };
}

test("each line shows each shop's price and marks the cheapest, even if it is the reader's or occurs twice", async () => {
  const { head, rows } = readMatrix(await explored.page('/list/matrix'));
  expect(head.map((cell) => cell.split(' ')[0])).toEqual(['Product', 'Your', 'Kiosk', 'Market', 'Museum']);
  expect(rows[0]).toEqual(['Radio 0 EUR', '99.00', '100.00', '95.00 cheapest', '95.00 cheapest']);
  expect(rows[1]).toEqual(['Radio 1 EUR', '95.00 cheapest', '100.00', '95.01', '–']);
  expect(rows[2]).toEqual(['Radio 2 EUR', '99.00', '100.00', '95.02 cheapest', '–']);
});

test('the matrix has at most 50 lines per page, and a shop keeps its column on the next page', async () => {
  const page = await explored.page('/list/matrix');
  const first = readMatrix(page);
  expect(first.rows).toHaveLength(50);
  const [, address = ''] = /<a href="([^"]*)" rel="next">/u.exec(page) ?? [];
  const next = readMatrix(await explored.page(address.replaceAll('&amp;', '&')));
  expect(next.head).toEqual(first.head);
  expect(next.rows).toHaveLength(11);
  expect(next.rows.at(-1)).toEqual(['acme-none EUR', '5.00', '–', '–', '–']);
});

test('the matrix can show only the lines of one place', async () => {
  const { rows } = readMatrix(await explored.page('/list/matrix?place=cheapest'));
  expect(rows.map(([name]) => name)).toEqual(['Radio 1 EUR']);
});

test('the downloaded file has all lines and their shops', async () => {
  const csv = await explored.page('/analyses/watched_matrix.csv?top=1000000');
  expect(csv.trimEnd().split('\r\n')).toHaveLength(1 + 2 * LINES + LINES / 3 + 1);
});

test('without a list, the matrix explains where its products come from', async () => {
  const plain = await explore(story);
  expect(toText(await plain.page('/list/matrix'))).toContain('the products of your list');
  await plain.close();
});
