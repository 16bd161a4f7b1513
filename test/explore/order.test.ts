/** Tests the rows of every analysis in another order. */
import { expect, test } from 'vitest';
import { listAnalyses } from '../../src/analyze/analysis.js';
import { ask } from '../../src/explore/question.js';
import { Snapshot } from '../../src/explore/snapshot.js';
import { openLake } from '../../src/lake/lake.js';
import { valueToText } from '../../src/sql/value-json.js';
import { copyMarket } from './explored.js';

test("another order has the same rows, and keeps the analysis's order among equal values", async () => {
  const story = await copyMarket();
  const snapshot = await Snapshot.open(await openLake(story.lakePath, { create: false }), { memory: '400MB' });
  await snapshot.whole;
  const { signal } = new AbortController();
  let seen = 0;
  for (const analysis of listAnalyses()) {
    const question = { analysis, set: {}, limit: 1000 };
    const plain = await ask(snapshot, question, signal).catch(() => undefined);
    const name = plain?.columns[0]?.name;
    if (plain === undefined || name === undefined || plain.rows.length < 2) continue;
    const toLine = (row: (typeof plain.rows)[number]) =>
      row.map((value) => (value === null ? '' : String(valueToText(value)))).join('|');
    const sorted = await ask(snapshot, { ...question, order: { by: name, isDescending: false } }, signal);
    expect([analysis, sorted.rows.map(toLine).sort()]).toEqual([analysis, plain.rows.map(toLine).sort()]);
    const firsts = [...new Set(sorted.rows.map((row) => String(row[0])))];
    // Rows with an equal value are together, in the order that the analysis gives them.
    const grouped = firsts.flatMap((first) => plain.rows.filter((row) => String(row[0]) === first));
    if (analysis === 'find_products') expect(sorted.rows.map(toLine)).toEqual(grouped.map(toLine));
    expect(new Set(firsts).size).toBe(
      sorted.rows.filter((row, k) => k === 0 || String(row[0]) !== String(sorted.rows[k - 1]?.[0])).length,
    );
    seen += 1;
  }
  expect(seen).toBeGreaterThan(5);
  await snapshot.close();
  await story.close();
});
