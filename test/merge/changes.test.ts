import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Database } from '../../src/duckdb/connection.js';
import { findAhead, findPendingChanges, type LandedChanges, readChanges } from '../../src/merge/changes.js';
import { RelationGraph } from '../../src/sql/graph.js';
import { createMacros } from '../../src/sql/model.js';
import type { Relation } from '../../src/sql/relation.js';
import { sql } from '../../src/sql/sql.js';
import type { CursorWindow } from '../../src/tables/cursor-window.js';
import type { ChangeOrigin, TypedFile } from '../../src/typing/type-file.js';
import { TypingQueue } from '../../src/typing/typing-queue.js';

let db: Database;
let graph: RelationGraph;
/** What the last `land` left. */
let landed: LandedChanges;
let lake: { items: Relation; history: Relation; stale_items: Relation };
let folder: string;
let files = 0;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'pricelake-changes-'));
  db = await Database.open();
  await createMacros(db);
  graph = new RelationGraph(db);
});
afterAll(async () => {
  await db.close();
  await rm(folder, { recursive: true });
});

/** Of a feed read from its beginning, over a lake that has read none. */
const WINDOW: CursorWindow = {
  known: undefined,
  from: 0n,
  applyFrom: 0n,
  to: undefined,
  ahead: 0n,
  watermark: undefined,
  isApplied: true,
};

const AT = '2026-11-20T06:00:00Z';

/** Change ids, `3b` for a second wording of 3, typed as a run types them. */
async function typeIds(origin: ChangeOrigin, ids: (number | string)[]): Promise<TypedFile[]> {
  if (ids.length === 0) return [];
  const file = path.join(folder, `${++files}.ndjson`);
  const lines = ids.map((id) => {
    const item = {
      id: 7,
      title: String(id),
      url: null,
      currency: 'EUR',
      site: { id: 1, name: 'S', host: 's.example' },
    };
    const values = { kind: 'CHANGED', price: 1, previousPrice: 2, changes: {}, item };
    return JSON.stringify({ id: Number.parseInt(String(id), 10), observedAt: AT, ...values });
  });
  await writeFile(file, `${lines.join('\n')}\n`);
  return [
    await new TypingQueue(db, { runId: 'now', workFolder: folder }).typeChanges({
      path: file,
      rows: ids.length,
      origin,
    }),
  ];
}

interface Landed {
  feed?: (number | string)[];
  webhooks?: (number | string)[];
  /** Change ids of history, with their origin and run. */
  history?: { change_id: number | null; origin?: string; run_id?: string }[];
}

async function land({ feed = [], webhooks = [], history = [] }: Landed, bounds: Partial<CursorWindow> = {}) {
  const rows = history.map((row) => ({
    item_id: 7,
    kind: 'CHANGED',
    observed_at: AT,
    observed_date: AT.slice(0, 10),
    title: `history ${row.change_id}`,
    origin: 'feed',
    run_id: 'before',
    ...row,
  }));
  const items = graph.empty('items', 'items');
  lake = {
    items,
    history: graph.load('history', 'history', rows),
    stale_items: graph.empty('stale_items', 'stale_items'),
  };
  const typed = [...(await typeIds('feed', feed)), ...(await typeIds('webhook', webhooks))];
  landed = await readChanges(graph, typed, { ...WINDOW, ...bounds }, lake, { runId: 'now', isSelected: false });
  return landed.tally;
}

async function readTitles(changes: Relation): Promise<string[]> {
  const rows = await graph.rows(sql`SELECT title, origin FROM ${changes} ORDER BY change_id`);
  return rows.map(({ title, origin }) => `${title} ${origin}`);
}

describe('new changes', () => {
  test('are those of the feed, and of webhooks what the feed has not: each once', async () => {
    const tally = await land({ feed: [1, '2b', 3], webhooks: [2, 3, 4, 4, 5] });
    expect(await readTitles(landed.fresh)).toEqual(['1 feed', '2b feed', '3 feed', '4 webhook', '5 webhook']);
    expect(tally).toEqual({ typed: 8n, repeated: 3n });
  });

  test('of the feed are those behind the cursor; of webhooks, those that history lacks', async () => {
    const history = [{ change_id: 1 }, { change_id: 3, origin: 'webhook' }, { change_id: 4 }];
    const tally = await land({ feed: [4, 5, 5], webhooks: [1, 2, 3, 6], history }, { from: 4n, known: 4n });
    expect(await readTitles(landed.fresh)).toEqual(['2 webhook', '5 feed', '6 webhook']);
    expect(tally).toEqual({ typed: 7n, repeated: 4n });
  });

  test('of the feed are not those up to the cursor, also where history lacks them', async () => {
    await land({ feed: [4, 5], webhooks: [6] }, { from: 4n, known: 4n });
    expect(await readTitles(landed.fresh)).toEqual(['5 feed', '6 webhook']);
  });

  test('of the feed that webhooks had brought ahead stand in history already', async () => {
    const history = [
      { change_id: 5, origin: 'webhook' },
      { change_id: 7, origin: 'webhook' },
    ];
    await land({ feed: [5, 6, 7, 8], history }, { from: 4n, known: 4n, ahead: 7n });
    expect(await readTitles(landed.fresh)).toEqual(['6 feed', '8 feed']);
    expect(await readTitles(landed.feed)).toEqual(['5 feed', '6 feed', '7 feed', '8 feed']);
  });

  test('of an earlier try of the same run are new, still', async () => {
    await land({
      feed: [1],
      webhooks: [2],
      history: [
        { change_id: 1, run_id: 'now' },
        { change_id: 2, run_id: 'now' },
      ],
    });
    expect(await readTitles(landed.fresh)).toEqual(['1 feed', '2 webhook']);
  });

  test('of webhooks that a comparison of whole rows has told are not, unless an earlier try of this run told them', async () => {
    await land({ webhooks: [2], history: [{ change_id: null, origin: 'diff' }] });
    expect(await readTitles(landed.fresh)).toEqual([]);
    await land({ webhooks: [2], history: [{ change_id: null, origin: 'diff', run_id: 'now' }] });
    expect(await readTitles(landed.fresh)).toEqual(['2 webhook']);
  });

  test('of webhooks are not those that history holds, even ahead of what the log says of it', async () => {
    const history = [{ change_id: 6, origin: 'webhook' }];
    await land({ webhooks: [6, 7], history }, { from: 4n, known: 4n });
    expect(await readTitles(landed.fresh)).toEqual(['7 webhook']);
  });

  test('ahead of the feed are noted, up to the newest that ever was', async () => {
    await land({ feed: [1, 2], webhooks: [2, 3, 5] });
    expect(await findAhead(graph, { ahead: 0n, to: 2n }, landed)).toBe(5n);
    expect(await findAhead(graph, { ahead: 9n, to: 2n }, landed)).toBe(9n);
    expect(await findAhead(graph, { ahead: 0n, to: 5n }, landed)).toBe(0n);
    expect(await findAhead(graph, { ahead: 0n, to: undefined }, landed)).toBe(5n);
    await land({ feed: [3, 4, 6], webhooks: [5] }, { to: 4n });
    expect(await findAhead(graph, { ahead: 0n, to: 4n }, landed)).toBe(6n);
  });

  test('that a feed of several brought ahead of the common cursor are new as well, once', async () => {
    await land({ feed: [3, 4, 6], webhooks: [6, 7] }, { to: 4n });
    expect(await readTitles(landed.fresh)).toEqual(['3 feed', '4 feed', '6 feed', '7 webhook']);
    await land({ feed: [5, 6, 8], history: [{ change_id: 6 }] }, { from: 4n, known: 4n, ahead: 6n, to: 8n });
    expect(await readTitles(landed.fresh)).toEqual(['5 feed', '8 feed']);
  });
});

describe('pending changes', () => {
  const pend = async (bounds: Partial<CursorWindow>) => {
    return readTitles(findPendingChanges(graph, { ...WINDOW, ...bounds }, landed, lake));
  };

  test('are the feed’s, and those of webhooks that it has come past', async () => {
    await land({ feed: [1, 2, 4], webhooks: [2, 3, 5] });
    expect(await pend({ applyFrom: 1n, to: 4n })).toEqual(['2 feed', '3 webhook', '4 feed']);
    expect(await pend({})).toEqual(['1 feed', '2 feed', '4 feed']);
  });

  test('stand in history where webhooks had brought them ahead; the feed’s wording counts', async () => {
    const history = [5, 6, 9].map((change_id) => ({ change_id, origin: 'webhook' }));
    await land({ feed: [5, 8], history }, { from: 4n, known: 4n, ahead: 9n });
    const bounds = { applyFrom: 4n, to: 8n, ahead: 9n };
    expect(await pend(bounds)).toEqual(['5 feed', 'history 6 webhook', '8 feed']);
  });

  test('are not those ahead of the common cursor, until a later run has passed them', async () => {
    await land({ feed: [3, 4, 6] }, { to: 4n });
    expect(await pend({ applyFrom: 2n, to: 4n })).toEqual(['3 feed', '4 feed']);
    // The service has forgotten 5 and 6 by then.
    await land({ feed: [8], history: [{ change_id: 6 }] }, { from: 4n, known: 4n, ahead: 6n, to: 8n });
    expect(await pend({ applyFrom: 4n, to: 8n, ahead: 9n })).toEqual(['history 6 feed', '8 feed']);
  });
});
