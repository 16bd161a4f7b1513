/** Tests that the moves kept for pages equal those of the analyses. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeMoment } from '../../src/explore/moves.js';
import { ask, type Question } from '../../src/explore/question.js';
import { Snapshot } from '../../src/explore/snapshot.js';
import { readFirst, toDate } from '../../src/explore/values.js';
import { openLake } from '../../src/lake/lake.js';
import { syncWithWings } from '../../src/wings/index.js';
import { openWorld, testIo, type World } from '../run/world.js';

let world: World;
let kept: Snapshot;
let fresh: Snapshot;
beforeAll(async () => {
  world = await openWorld({ items: 3_000, sites: 12, pastDays: 20 });
  await syncWithWings(world.pipeline, testIo);
  await world.sandbox.advance({ hours: 24 * 3, changes: 3_000 });
  await syncWithWings(world.pipeline, testIo);
  const lake = await openLake(world.pipeline.lake.path, { create: false });
  const open = () => Snapshot.open(lake, { memory: '400MB' });
  [kept, fresh] = await Promise.all([open(), open()]);
  await Promise.all([kept.version.keepMoves(), fresh.whole]);
});
afterAll(async () => {
  await Promise.all([kept.close(), fresh.close()]);
  await world.close();
});

const { signal } = new AbortController();
const MOST_MOVED =
  'SELECT category_slug AS slug FROM items WHERE category_slug IS NOT NULL GROUP BY ALL ORDER BY count(*) DESC';
const MOST_SOLD = 'SELECT brand FROM products WHERE brand IS NOT NULL GROUP BY brand ORDER BY count(*) DESC, brand';

test('kept moves equal those of the analyses for each time, kind, currency, shop and brand', async () => {
  const clock = await ask(fresh, { analysis: 'report_overview', set: {}, limit: 1 }, signal);
  const newest = toDate(readFirst(clock)('newest_seen'));
  let rows = 0;
  for (const since of ['run', 'day', 'week'] as const) {
    const moment = describeMoment(since, fresh.run?.number, newest);
    const category = { category: String((await fresh.rows(MOST_MOVED))[0]?.slug) };
    const brand = { brand: String((await fresh.rows(MOST_SOLD))[0]?.brand).toUpperCase() };
    const own = [
      ...[{ site_id: '3' }, { site_id: '3', kind: 'fall' }, category].map((set) => ['movers', set] as const),
      ['stock_moves', category] as const,
      ...(['movers', 'spread_moves', 'stock_moves'] as const).map((analysis) => [analysis, brand] as const),
    ];
    const both = [
      {},
      { currency: 'EUR' },
      { kind: 'rise', top: '3' },
      { kind: 'opened', top: '1000' },
      { currency: 'XXX' },
    ];
    const analyses = ['movers', 'spread_moves', 'stock_moves'] as const;
    const asked = [...both.flatMap((set) => analyses.map((analysis) => [analysis, set] as const)), ...own];
    for (const [analysis, set] of asked) {
      const question: Question = { analysis, set: { top: '8', ...moment, ...set }, limit: 5_000 };
      expect(kept.version.moves.find(analysis, question.set)).toBeDefined();
      expect(fresh.version.moves.find(analysis, question.set)).toBeUndefined();
      const answer = await ask(kept, question, signal);
      expect([question.set, answer.rows]).toEqual([question.set, (await ask(fresh, question, signal)).rows]);
      rows += answer.rows.length;
    }
  }
  expect(rows).toBeGreaterThan(100);
});

test.each<Question['set']>([
  { product: 'x' },
  { since: '2026-01-01' },
  { top: '0' },
  { top: '100000' },
  { with_suspects: 'true' },
])('moves with %j are computed by the analysis itself', (set) => {
  expect(kept.version.moves.find('movers', {})).toBeDefined();
  expect(kept.version.moves.find('movers', set)).toBeUndefined();
  expect(kept.version.moves.find('spread_moves', { site_id: '3' })).toBeUndefined();
});
