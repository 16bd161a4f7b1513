/** Lines with any content that a service may send: each is typed exactly or rejected, and none is lost. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RUNS_FACTOR } from '../property-runs.js';
import { itemLine, openTyping } from './typing.js';

const typing = await openTyping();
const RUNS = { seed: 2026, numRuns: 20 * RUNS_FACTOR };

/** Any text that a table can keep: whole characters. */
const text = fc.string({ unit: 'grapheme', maxLength: 12 });

interface Line {
  bytes: string;
  /** The title that a row must have; undefined if the line may be anything. */
  title?: string;
}

const good = text.map((title) => ({ title }));
const bad = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.json(),
  fc.record({ id: fc.jsonValue(), price: fc.jsonValue(), site: fc.jsonValue() }).map((item) => JSON.stringify(item)),
  fc.tuple(fc.nat(90), fc.string({ maxLength: 3 })).map(([at, put]) => {
    const line = itemLine({ id: '1' });
    return line.slice(0, at) + put + line.slice(at + put.length);
  }),
);
/** A whole row comes first, because it shows which field is the id. */
const ndjson = fc.tuple(good, fc.array(fc.oneof(good, bad), { maxLength: 24 })).map(([first, others]) =>
  [first, ...others].map((line, n): Line => {
    if (typeof line === 'string') return { bytes: line.replaceAll(/[\r\n]/g, ' ') };
    return { ...line, bytes: itemLine({ id: String(n + 1_000_000), title: JSON.stringify(line.title) }) };
  }),
);

test('each NDJSON line becomes a row or a reject, and valid rows are exact beside any other lines', async () => {
  await fc.assert(
    fc.asyncProperty(ndjson, async (lines) => {
      const rows = await typing.items(lines.map(({ bytes }) => `${bytes}\n`).join(''));
      const typed = await rows.select('SELECT item_id, title FROM typed');
      const held = lines.filter(({ bytes }) => !/^[ \t\r]*$/.test(bytes));
      expect(typed.length + (await rows.rejects()).length).toBe(held.length);
      const titles = new Map(typed.map(([id, title]) => [id, title]));
      for (const [n, { title }] of lines.entries())
        if (title !== undefined) expect([n, titles.get(String(n + 1_000_000))]).toEqual([n, title]);
    }),
    RUNS,
  );
});

const quote = (cell: string) => `"${cell.replaceAll('"', '""')}"`;

test('any text in quoted CSV cells is read exactly, and a broken record is one reject', async () => {
  const records = fc.array(fc.record({ title: text, isBroken: fc.boolean() }), { minLength: 1, maxLength: 24 });
  await fc.assert(
    fc.asyncProperty(records, fc.constantFrom('\n', '\r\n'), async (all, end) => {
      const lines = all.map(
        ({ title, isBroken }, n) => `${isBroken ? 'x' : n + 1},${quote(title)},7,Shop,shop.example${end}`,
      );
      const rows = await typing.csv(`id,title,siteId,siteName,siteHost${end}${lines.join('')}`, all.length);
      const typed = new Map((await rows.select('SELECT item_id, title FROM typed')) as [string, string | null][]);
      expect((await rows.rejects()).length).toBe(all.filter(({ isBroken }) => isBroken).length);
      for (const [n, { title, isBroken }] of all.entries())
        expect(typed.get(String(n + 1)) ?? '').toBe(isBroken ? '' : title);
    }),
    RUNS,
  );
});
