import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Check } from '../../src/check/check.js';
import { type CheckedTables, countRows } from '../../src/check/count-rows.js';
import { KeptCounts, type ListFiles, readKeptCounts } from '../../src/check/kept-counts.js';
import { loadChecks } from '../../src/check/load.js';
import { parseCheck } from '../../src/check/parse.js';
import { runChecks } from '../../src/check/run.js';
import { ScopedCounts } from '../../src/check/scoped-counts.js';
import type { ConfiguredCheck } from '../../src/check/settings.js';
import { Database } from '../../src/sql/connection.js';
import { RelationGraph } from '../../src/sql/graph.js';
import { Relation } from '../../src/sql/relation.js';
import { createSeeded } from '../seeded.js';
import { createTable } from './lake-world.js';
import { FOLLOWING_CHECKS } from './scoped-queries.js';

const random = createSeeded(12);
const db = await Database.open();
afterAll(() => db.close());
const graph = new RelationGraph(db);
await createTable(db, 'items');
await db.run(
  'CREATE TABLE sites AS SELECT id AS site_id, NULL AS name, NULL AS host, id < 2 AS is_current FROM range(3) t(id)',
);
const checks = [...(await loadChecks()).filter(({ scope }) => scope !== undefined), ...FOLLOWING_CHECKS];

/** The names of a table's files in a version of the lake. */
const files = (version: number) => () => [`${version}.parquet`];
const NONE: ReadonlySet<string> = new Set();
const named = (name: string) => new Relation(name, Promise.resolve());
/** The tables of the session, and the items that a run changed. */
const CHECKED: CheckedTables = { tables: { items: named('items') }, runId: undefined };
const CHANGED = { before: named('items_before'), after: named('items_after') };
/** The scope of a run that changed no items, so no counts can be updated. */
const all = (kept: KeptCounts) => new ScopedCounts({ kept, changed: undefined, changedTables: NONE });

const literal = (values: readonly (string | null)[]) => {
  const value = random.pick(values);
  return value === null ? 'NULL' : `'${value}'`;
};

/** Rows of items, many of which violate some check. */
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

const range = (from: number, count: number) => Array.from({ length: count }, (_, n) => from + n);

const planned = (check: Check) => ({
  check,
  severity: check.severity,
  values: Object.fromEntries(check.parameters.map(({ name, default: value }) => [name, value])),
});

/** How many of the checks a run can update from a text of kept counts. */
async function countKnown(text: string | undefined, list: ListFiles, some: ConfiguredCheck[], changed = NONE) {
  return (await new KeptCounts(text, list).countOn(graph, CHECKED, CHANGED, some, changed)).size;
}

describe("checks that update the previous run's counts", () => {
  beforeAll(() => changeItems([1], []));

  const writeAll = async () => {
    const kept = new KeptCounts(undefined, files(0));
    await runChecks(graph, CHECKED, checks, {}, all(kept));
    return kept.write(files(7));
  };

  it('read all rows if no counts are kept, or the version, the query or a parameter differs', async () => {
    const text = await writeAll();
    const every = checks.map(planned);
    expect(await countKnown(text, files(7), every)).toBeGreaterThan(0);
    expect(await countKnown(text, files(8), every)).toBe(0);
    expect(await countKnown(text.slice(0, -9), files(7), every)).toBe(0);
    expect(await countKnown(undefined, files(7), every)).toBe(0);
    const others = checks.map((check) => planned({ ...check, sql: `${check.sql} -- other` }));
    expect(await countKnown(text, files(7), others)).toBe(0);
    const jump = planned(checks.find(({ name }) => name === 'price_jump') as Check);
    expect(await countKnown(text, files(7), [jump])).toBe(1);
    expect(await countKnown(text, files(7), [{ ...jump, values: { factor: 5 } }])).toBe(0);
  });

  it('find the same violations as over all rows, and sample only violations', async () => {
    await changeItems(range(1, 60), []);
    let kept = new KeptCounts(undefined, files(0));
    await runChecks(graph, CHECKED, checks, {}, all(kept));
    const every = checks.map(planned);
    for (let version = 1; version <= 3; version++) {
      const next = new KeptCounts(kept.write(files(version)), files(version));
      await changeItems(range(version * 7, 10), range(100 * version, 4));
      const found = await next.countOn(graph, CHECKED, CHANGED, every, NONE);
      for (const one of every) {
        const { name } = one.check;
        const over = await countRows(graph, one, CHECKED, 1000);
        const counted = found.get(name);
        next.note(one, counted ?? over);
        // A check recounts over all rows only if none of its sample rows is left.
        if (counted === undefined) expect(over.violations, name).toBeGreaterThan(5n);
        else expect(counted.violations, name).toBe(over.violations);
        for (const row of counted?.rows ?? []) expect(over.rows.splice(over.rows.indexOf(row), 1), name).toEqual([row]);
      }
      expect(found.size).toBeGreaterThan(every.length - 3);
      kept = next;
    }
  });

  const HEADER = '-- name: own\n-- severity: gate\n-- description: a\n-- next: b\n-- scope: row\n';
  const own = (sql: string) => planned(parseCheck(`${HEADER}${sql}`, 'own.sql'));

  /** The result of a check behind a run that changed items 1 and 2, whose violations before were `rows`, and more. */
  const countBehind = async (one: ConfiguredCheck, violations: bigint, rows: string[]) => {
    const kept = new KeptCounts(undefined, files(0));
    kept.note(one, { violations, rows, seconds: 0 });
    const found = await new KeptCounts(kept.write(files(1)), files(1)).countOn(graph, CHECKED, CHANGED, [one], NONE);
    const { violations: counted, rows: sample } = found.get('own') ?? {};
    return [counted, sample];
  };

  it("keep other items' rows in their sample, once each and five at most", async () => {
    await changeItems([1, 2], []);
    const one = own('SELECT item_id FROM items');
    const row = (id: number) => `{"item_id":${id}}`;
    const [a, b, c] = [row(1), row(7), row(2)];
    expect(await countBehind(one, 9n, [a, b])).toEqual([9n, [a, c, b]]);
    expect(await countBehind(one, 9n, [b])).toEqual([9n, [a, c, b]]);
    expect(await countBehind(one, 20n, [3, 4, 5, 6, 7].map(row))).toEqual([20n, [a, c, row(3), row(4), row(5)]]);
  });

  it("recount over all rows if the kept count can't be right or no sample row is left", async () => {
    const one = own('SELECT item_id FROM items WHERE item_id > 100');
    expect(await countBehind(one, 3n, ['{"item_id":7}'])).toEqual([3n, ['{"item_id":7}']]);
    expect(await countBehind(one, 3n, [])).toEqual([undefined, undefined]);
    expect(await countBehind(one, 1n, ['{"item_id":7}', '{"item_id":8}'])).toEqual([undefined, undefined]);
    expect(await countBehind(own('SELECT item_id FROM items'), 1n, ['{"item_id":7}'])).toEqual([undefined, undefined]);
  });

  it("drop other items' sample rows if a run had more earlier violations than are listed", async () => {
    await changeItems([1, 2], []);
    await db.run("UPDATE items_before SET run_id = 'many'");
    const sampleBehind = (each: number) =>
      countBehind(
        own(`SELECT unnest(range(CASE WHEN run_id = 'many' THEN ${each} ELSE 1 END)) AS n FROM items`),
        BigInt(2 * each + 1),
        ['{"n":-1}'],
      );
    expect(await sampleBehind(5000)).toEqual([3n, ['{"n":0}', '{"n":0}', '{"n":-1}']]);
    expect(await sampleBehind(5001)).toEqual([3n, ['{"n":0}', '{"n":0}']]);
  });

  it('can be read back with their parameters, for unchanged checks and files', async () => {
    const few = checks.slice(0, 3);
    const text = await writeAll();
    const found = await runChecks(graph, CHECKED, few, {});
    const read = readKeptCounts(text, few, files(7));
    expect(read.map(({ configured }) => configured)).toEqual(few.map(planned));
    expect(read.map(({ violations }) => violations)).toEqual(found.map(({ violations }) => violations));
    expect(readKeptCounts(text, few, files(8))).toEqual([]);
    const others = few.map((check) => ({ ...check, sql: `${check.sql} -- other` }));
    expect(readKeptCounts(text, [...others, { ...(few[0] as Check), name: 'new' }], files(7))).toEqual([]);
  });

  it('read all rows if another table that they read has changed', async () => {
    const text = await writeAll();
    const site = checks.filter(({ name }) => name === 'site_known').map(planned);
    expect(await countKnown(text, files(7), site, new Set(['items', 'offers']))).toBe(1);
    expect(await countKnown(text, files(7), site, new Set(['items', 'sites']))).toBe(0);
  });

  it.each([
    ['', 'SELECT item_id FROM items JOIN Sites USING (site_id) WHERE NOT is_current'],
    ['-- parameter: n BIGINT default 2: a\n', 'SELECT item_id FROM items, sites WHERE site_id < $n AND NOT is_current'],
  ])('read all rows if a table changes that their SQL names beside USING or a parameter: %s%s', async (head, sql) => {
    const one = own(`${head}${sql}`);
    const kept = new KeptCounts(undefined, files(0));
    kept.note(one, { violations: 0n, rows: [], seconds: 0 });
    const text = kept.write(files(7));
    expect(await countKnown(text, files(7), [one], new Set(['items', 'sites']))).toBe(0);
    // Another program changed the websites, or a rebuild recreated them.
    expect(await countKnown(text, (table) => files(table === 'sites' ? 8 : 7)(), [one])).toBe(0);
  });
});
