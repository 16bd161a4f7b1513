import { afterAll, describe, expect, it } from 'vitest';
import type { CheckedTables } from '../../src/check/count-rows.js';
import { KeptCounts } from '../../src/check/kept-counts.js';
import { loadChecks } from '../../src/check/load.js';
import { parseCheck } from '../../src/check/parse.js';
import { runChecks } from '../../src/check/run.js';
import { ScopedCounts } from '../../src/check/scoped-counts.js';
import { configureChecks } from '../../src/check/settings.js';
import { countWithinRun } from '../../src/check/within-run.js';
import { Database } from '../../src/sql/connection.js';
import { RelationGraph } from '../../src/sql/graph.js';
import { Relation } from '../../src/sql/relation.js';
import { createSeeded } from '../seeded.js';
import { createTable } from './lake-world.js';

const random = createSeeded(31);
const RUN = '000002-20261101T000000Z';
const db = await Database.open();
afterAll(() => db.close());
const graph = new RelationGraph(db);
const named = (name: string) => new Relation(name, Promise.resolve());
const CHECKED: CheckedTables = { tables: { items: named('items'), history: named('history') }, runId: RUN };
const CHANGED = { before: named('items_before'), after: named('items_after') };
const scope = (hasFewChanges: boolean) =>
  new ScopedCounts({
    kept: new KeptCounts(undefined, () => []),
    changed: hasFewChanges ? CHANGED : undefined,
    changedTables: new Set<string>(),
  });
const instant = () => `'2026-10-0${1 + random.integer(9)} 00:00:00+00'`;
const insert = (table: string, values: Record<string, unknown>) =>
  db.run(`INSERT INTO ${table} (${Object.keys(values)}) VALUES (${Object.values(values).join(', ')})`);

const insertItem = (table: string, id: number, runId: string) =>
  insert(table, {
    item_id: id,
    site_id: id % 4,
    price: random.pick(['10', '20']),
    is_listed: random.pick(['true', 'false']),
    removed_at: random.pick(['NULL', instant()]),
    last_seen_at: random.pick(['NULL', instant()]),
    last_changed_at: instant(),
    run_id: `'${runId}'`,
  });

const insertChange = (id: number, changeId: number, runId: string) =>
  insert('history', {
    item_id: id,
    change_id: changeId,
    kind: random.pick(["'REMOVED'", "'CHANGED'", "'RELISTED'"]),
    observed_at: instant(),
    price: random.pick(['10', '20', 'NULL']),
    previous_price: random.pick(['10', '20', 'NULL']),
    origin: "'feed'",
    run_id: `'${runId}'`,
  });

for (const name of ['items', 'items_before', 'items_after', 'history', 'runs', 'sites', 'price_spread_daily'] as const)
  await createTable(db, name.startsWith('items') ? 'items' : (name as 'history'), name);
await insert('runs', { run_number: 1, run_id: "'000001-20261031T000000Z'", cursor_to: 1000 });
await insert('runs', { run_number: 2, run_id: `'${RUN}'`, cursor_to: 1000 });
for (let id = 0; id < 80; id++) {
  // The run told something of every third item; some of these rows it did not give other values.
  const isTouched = id % 3 === 0;
  await insertItem('items', id, isTouched ? RUN : '000001-20261031T000000Z');
  for (let n = 0; n < 3; n++) {
    await insertChange(id, id * 5 + n, isTouched && n === 2 ? RUN : '000001-20261031T000000Z');
  }
}
await db.run('INSERT INTO items_after FROM items WHERE item_id % 3 = 0 AND item_id % 2 = 0');
await db.run('INSERT INTO items_before FROM items_after WHERE item_id % 5 > 0');
const checks = (await loadChecks()).filter(({ withinRun }) => withinRun !== undefined);

const count = async (hasFewChanges: boolean) => {
  const results = await runChecks(graph, CHECKED, checks, {}, scope(hasFewChanges));
  return results.map(({ name, violations, sample }) => [name, violations, sample === '[]']);
};

describe('checks restricted to the rows of a run', () => {
  it('find the same violations over the rows that the run touched as over all rows', async () => {
    const all = await count(false);
    expect(await count(true)).toEqual(all);
    expect(all.map(([name]) => name)).toContain('history_ordered');
    const counted = await countWithinRun(graph, CHECKED, CHANGED, configureChecks(checks, {}));
    expect([...counted.keys()].sort()).toEqual(all.map(([name]) => name).sort());
    expect(all.filter(([, violations]) => violations !== 0n).length).toBeGreaterThan(3);
  });

  it("get all columns if their SQL doesn't name the columns", async () => {
    const header = '-- name: own\n-- severity: warn\n-- description: b\n-- next: c\n-- within_run: item_id\n';
    const touched = "item_id IN (SELECT item_id FROM history WHERE run_id = getvariable('run_id'))";
    for (const sql of [
      `SELECT DISTINCT * EXCLUDE (change_id) FROM history WHERE ${touched}`,
      `SELECT item_id FROM history NATURAL JOIN (SELECT * FROM items WHERE ${touched})`,
      `SELECT item_id, COLUMNS('.*price') FROM history WHERE ${touched}`,
    ]) {
      const own = parseCheck(header + sql, 'own.sql');
      const counted = async (hasFewChanges: boolean) => {
        const [result] = await runChecks(graph, CHECKED, [own], {}, scope(hasFewChanges));
        return [result?.violations, Object.keys(JSON.parse(result?.sample ?? '[{}]')[0] ?? {})];
      };
      expect(await counted(true), sql).toEqual(await counted(false));
    }
  });

  it('read only the rows of touched items, in tables that have the column', async () => {
    const header = '-- name: own\n-- severity: warn\n-- description: b\n-- next: c\n-- within_run: ';
    const countOf = async (column: string, sql: string) => {
      const own = parseCheck(`${header}${column}\n${sql}`, 'own.sql');
      const counted = await countWithinRun(graph, CHECKED, CHANGED, configureChecks([own], {}));
      return counted.get('own')?.violations;
    };
    expect(await countOf('item_id', 'SELECT item_id FROM items')).toBe(14n);
    expect(await countOf('item_id', 'SELECT item_id FROM history')).toBe(81n);
    // The table history doesn't have this column.
    expect(await countOf('is_listed', 'SELECT kind FROM history JOIN items USING (item_id)')).toBe(240n);
  });

  it('fall back to all rows if their restricted SQL fails', async () => {
    const broken = checks.slice(0, 1).map((check) => ({ ...check, sql: 'SELECT nothing FROM items' }));
    const planned = broken.map((check) => ({ check, severity: check.severity, values: {} }));
    expect((await countWithinRun(graph, CHECKED, CHANGED, planned)).size).toBe(0);
  });

  it('may declare only a column of items', () => {
    const header = '-- name: a\n-- severity: warn\n-- description: b\n-- next: c\n';
    expect(parseCheck(`${header}-- within_run: item_id\nSELECT 1 FROM items`, 'a.sql').withinRun).toBe('item_id');
    expect(() => parseCheck(`${header}-- within_run: item_ids\nSELECT 1 FROM items`, 'a.sql')).toThrow(
      'a.sql:5: within_run: "item_ids" is not a column of items, meant "item_id"?',
    );
  });
});
