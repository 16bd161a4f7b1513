import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Check } from '../../src/check/check.js';
import type { CheckedTables } from '../../src/check/count-rows.js';
import { KeptCounts } from '../../src/check/kept-counts.js';
import { loadChecks } from '../../src/check/load.js';
import { parseCheck } from '../../src/check/parse.js';
import { runChecks } from '../../src/check/run.js';
import type { PlannedCheck } from '../../src/check/settings.js';
import { Database } from '../../src/sql/connection.js';
import { RelationGraph } from '../../src/sql/graph.js';
import { Relation } from '../../src/sql/relation.js';
import { loadTableSchema } from '../../src/tables/schemas.js';
import { createSeeded } from '../seeded.js';
import { FOLLOWING_CHECKS } from './scoped-queries.js';

const random = createSeeded(12);
let db: Database;
let graph: RelationGraph;
let checks: Check[];

/** The names of a table's files in a version of the lake. */
const files = (version: number) => () => [`${version}.parquet`];
const NONE: ReadonlySet<string> = new Set();
const named = (name: string) => new Relation(name, Promise.resolve());
/** The tables of the session, and the items that a run changed. */
const CHECKED: CheckedTables = { tables: { items: named('items') }, runId: undefined };
const CHANGED = { before: named('items_before'), after: named('items_after') };
/** Behind a run that changed no item there is nothing to count on. */
const all = (kept: KeptCounts) => ({ kept, changed: undefined, changedTables: NONE });

const literal = (values: readonly (string | null)[]) => {
  const value = random.pick(values);
  return value === null ? 'NULL' : `'${value}'`;
};

/** Rows of items, many of which violate one check or another. */
const insertItems = async (table: string, ids: readonly number[]) => {
  for (const id of ids) {
    const values = {
      item_id: id,
      site_id: random.integer(3),
      url: literal([null, 'https://a.example/1', 'https://a.example/2', `https://a.example/${id}`]),
      gtin: literal([null, '4006381333931', '4006381333932', '12', '40063813339']),
      price: random.pick(['NULL', '10', '200', '-1']),
      previous_price: random.pick(['NULL', '10', '1']),
      currency: literal([null, 'EUR']),
      is_listed: random.pick(['true', 'false']),
      removed_at: random.pick(['NULL', "'2026-01-01T00:00:00Z'"]),
      first_seen_at: random.pick(['NULL', "'2026-02-01T00:00:00Z'"]),
      run_id: "'r'",
    };
    await db.run(`INSERT INTO ${table} (${Object.keys(values)}) VALUES (${Object.values(values).join(', ')})`);
  }
};

/** A run that gives some items other rows and adds some. */
const changeItems = async (ids: readonly number[], added: readonly number[]) => {
  await db.run(`CREATE OR REPLACE TABLE items_before AS FROM items WHERE item_id IN (${ids.join(', ')})`);
  await db.run(`DELETE FROM items WHERE item_id IN (${ids.join(', ')})`);
  await insertItems('items', [...ids, ...added]);
  await db.run(`CREATE OR REPLACE TABLE items_after AS FROM items WHERE item_id IN (${[...ids, ...added].join(', ')})`);
};

beforeAll(async () => {
  db = await Database.open();
  graph = new RelationGraph(db);
  const columns = loadTableSchema('items').columns.map(({ name, type }) => `${name} ${type}`);
  await db.run(`CREATE TABLE items (${columns.join(', ')})`);
  await db.run(
    'CREATE TABLE sites AS SELECT id AS site_id, NULL AS name, NULL AS host, id < 2 AS is_current FROM range(3) t(id)',
  );
  checks = [...(await loadChecks()).filter(({ scope }) => scope !== undefined), ...FOLLOWING_CHECKS];
});
afterAll(() => db.close());

describe('checks that count on from the run before', () => {
  const planned = (check: Check) => ({
    check,
    severity: check.severity,
    values: Object.fromEntries(check.parameters.map(({ name, default: value }) => [name, value])),
  });
  it('read all rows where nothing is kept, or of another version, query or parameter', async () => {
    const kept = new KeptCounts(undefined, files(0));
    await runChecks(graph, CHECKED, checks, {}, all(kept));
    const text = kept.write(files(7));
    const known = async (from: string | undefined, version: number, some = checks) =>
      (await new KeptCounts(from, files(version)).countOn(graph, CHECKED, CHANGED, some.map(planned), NONE)).size;
    await changeItems([1], []);
    expect(await known(text, 7)).toBeGreaterThan(0);
    expect(await known(text, 8)).toBe(0);
    expect(await known(text.slice(0, -9), 7)).toBe(0);
    expect(await known(undefined, 7)).toBe(0);
    expect(
      await known(
        text,
        7,
        checks.map((check) => ({ ...check, sql: `${check.sql} -- other` })),
      ),
    ).toBe(0);
    const jump = planned(checks.find(({ name }) => name === 'price_jump') as Check);
    const other = { ...jump, values: { factor: 5 } };
    expect((await new KeptCounts(text, files(7)).countOn(graph, CHECKED, CHANGED, [jump], NONE)).size).toBe(1);
    expect((await new KeptCounts(text, files(7)).countOn(graph, CHECKED, CHANGED, [other], NONE)).size).toBe(0);
  });

  it('read all rows where another table that they read changes', async () => {
    const kept = new KeptCounts(undefined, files(0));
    await runChecks(graph, CHECKED, checks, {}, all(kept));
    const site = checks.filter(({ name }) => name === 'site_known').map(planned);
    await changeItems([1], []);
    const known = async (changed: ReadonlySet<string>) =>
      (await new KeptCounts(kept.write(files(7)), files(7)).countOn(graph, CHECKED, CHANGED, site, changed)).size;
    expect(await known(new Set(['items', 'offers']))).toBe(1);
    expect(await known(new Set(['items', 'sites']))).toBe(0);
  });

  it('read all rows where a table that SQL with USING or a parameter names changes', async () => {
    const header = '-- name: own\n-- severity: gate\n-- description: a\n-- next: b\n-- scope: row\n';
    for (const [head, sql] of [
      ['', 'SELECT item_id FROM items JOIN Sites USING (site_id) WHERE NOT is_current'],
      [
        '-- parameter: n BIGINT default 2: a\n',
        'SELECT item_id FROM items, sites WHERE site_id < $n AND NOT is_current',
      ],
    ]) {
      const own = [planned(parseCheck(`${header}${head}${sql}`, 'own.sql'))];
      const kept = new KeptCounts(undefined, files(0));
      kept.note(own[0] as PlannedCheck, { violations: 0n, rows: [], seconds: 0 });
      const text = kept.write(files(7));
      const known = async (changed: ReadonlySet<string>) =>
        (await new KeptCounts(text, files(7)).countOn(graph, CHECKED, CHANGED, own, changed)).size;
      expect(await known(new Set(['items', 'sites']))).toBe(0);
      // Another program changed websites, or a rebuild made them again.
      const others = (table: string) => files(table === 'sites' ? 8 : 7)();
      expect((await new KeptCounts(text, others).countOn(graph, CHECKED, CHANGED, own, NONE)).size).toBe(0);
    }
  });
});
