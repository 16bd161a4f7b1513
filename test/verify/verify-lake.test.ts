import { appendFile, cp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { runVerify } from '../../src/cli/actions/run-verify.js';
import { commitTable } from '../../src/lake/commit.js';
import { refreshPointer } from '../../src/lake/publish.js';
import { readTable } from '../../src/lake/read.js';
import { stageTable } from '../../src/lake/stage.js';
import { createTableViews } from '../../src/lake/views.js';
import { Database } from '../../src/sql/connection.js';
import type { Lake } from '../../src/tables/layout.js';
import type { Applied, TableName } from '../../src/tables/table.js';
import { listSums } from '../../src/verify/check-landing.js';
import type { ProofResult } from '../../src/verify/verify-lake.js';
import { openContext } from '../cli/open-context.js';
import { AT } from '../lake/items.js';
import { reseal } from '../lake/log-writer.js';
import { openWorld, type World } from '../run/world.js';
import { copyLake, passCheckpoint } from './lake-copies.js';
import { edit, findFaults, readProofs } from './proofs.js';

let world: World;
let lake: Lake;

/** Opens a lake after a complete copy, a run with changes and one without; one table has passed a checkpoint. */
beforeAll(async () => {
  world = await openWorld({ items: 40, sites: 2, limits: { historyDays: 2 } });
  await world.sync();
  await world.sandbox.advance({ hours: 6, changes: 25 });
  await world.sync();
  await world.sync();
  await world.sandbox.advance({ hours: 6, changes: 25 });
  await world.sync();
  await passCheckpoint(world);
});
afterAll(() => world.close());

beforeEach(async () => {
  lake = await copyLake(world);
});

const verify = (sample?: number) => findFaults(lake.root, sample);

const inLake = (...parts: string[]) => path.join(lake.root, ...parts);

async function findFile(table: TableName, which = 0): Promise<string> {
  const { files } = await readTable(lake, table);
  return inLake(table, files[which]?.path ?? '');
}

/** Edits the newest log entry of a table that names files, and seals it again. */
async function editLog(table: TableName, change: (text: string) => string): Promise<void> {
  const folder = inLake(table, '_delta_log');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json')).sort();
  for (const name of names.reverse()) {
    const file = path.join(folder, name);
    const text = await readFile(file, 'utf8');
    if (text.includes('"add"')) return writeFile(file, reseal(change(text)));
  }
}

/** Alters the last file that the log of a table adds. */
async function editAdds(table: TableName, edits: [RegExp, string][]): Promise<void> {
  await editLog(table, (text) => {
    const at = text.lastIndexOf('{"add"');
    return edits.reduce((line, [pattern, replacement]) => {
      expect(line).toMatch(pattern);
      return line.slice(0, at) + line.slice(at).replace(pattern, replacement);
    }, text);
  });
}

const editFile = (name: string, change: (text: string) => string) => edit(inLake(name), change);

/** Replaces all rows of a table, by a commit that is itself in order. */
async function rewrite(table: TableName, select: string, applied: Partial<Applied> = {}): Promise<void> {
  const db = await Database.open();
  try {
    await createTableViews(db, lake);
    const { files } = await readTable(lake, table);
    const layout = { partitionBy: Object.keys(files[0]?.partitionValues ?? {}) };
    const add = await stageTable(db, lake, { table, runId: 'r', select, ...layout });
    await commitTable(lake, { table, add, remove: files, applied }, { runId: 'r', operation: 'TEST', at: AT });
    await refreshPointer(lake);
  } finally {
    await db.close();
  }
}

/** The newest price change that was applied to an item. */
const PRICED = `(SELECT max(h.change_id) FROM history AS h JOIN items AS k USING (change_id)
  WHERE h.previous_price IS NOT NULL AND k.last_changed_at = h.observed_at)`;

test('a sound lake passes every proof, in text, in JSON and with a sample', async () => {
  const context = openContext();
  const report = await runVerify({ lake: lake.root }, context);
  const proofs = report.proofs as ProofResult[];
  expect(proofs.map(({ found }) => found)).toEqual(proofs.map(() => 0));
  expect(proofs.every(({ looked }) => looked > 0n)).toBe(true);
  expect(context.output.text).toMatch(/ok +rows +\d{3,} +rows/);
  const sampled = (await runVerify({ lake: lake.root, sample: 2 }, openContext(true))).proofs as ProofResult[];
  const rows = (list: ProofResult[]) => Number(list.find(({ name }) => name === 'rows')?.looked);
  expect(rows(sampled)).toBeGreaterThan(0);
  expect(rows(sampled)).toBeLessThan(rows(proofs));
});

describe('verify finds', () => {
  test('a flipped byte, truncated and missing files, and an orphan file, even if only a sample is read', async () => {
    await cp(await findFile('items'), inLake('items', 'stray.parquet'));
    const file = await open(await findFile('items'), 'r+');
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, 200);
    await file.write(Buffer.from([(buffer[0] ?? 0) ^ 1]), 0, 1, 200);
    await file.close();
    await appendFile(await findFile('items', 1), 'x');
    await rm(await findFile('products'));
    const findings = await verify(0);
    const files = findings.files;
    expect(findings.orphans).toBe('items/stray.parquet is in no log; the next sync deletes it');
    expect(files).toMatch(/^items\/\S+ has SHA-256 [0-9a-f]{64}, but the log records/m);
    expect(files).toMatch(/^items\/\S+ has \d+ bytes, but the log records \d+/m);
    expect(files).toMatch(/^products\/\S+ is missing/m);
  });

  test('a derived table that differs from the result of its query', async () => {
    await rewrite('products', 'SELECT * REPLACE (offers + 1 AS offers) FROM products LIMIT 5');
    const findings = await verify();
    expect(findings).toEqual({
      derived: expect.stringMatching(
        /^products 5 rows aren't in the result of its query over items, and \d+ rows of the result are missing$/,
      ),
    });
  });

  test('a wrong count of a check that later runs would update', async () => {
    await editFile('_pricelake/memory.ndjson', (text) =>
      text
        .replaceAll(/(\\"items_key_unique\\":.*?\\"violations\\":\\")0/gu, '$17')
        .replaceAll(/^(.*),"sum":"\w+"\}$/gmu, (_, text) => `${text},"sum":"${listSums('', `${text}}`)[0]}"}`),
    );
    const findings = await verify();
    expect(findings).toEqual({
      counts: expect.stringMatching(/records 7 violations of items_key_unique, but there are 0/u),
    });
  });

  test("an altered line of the lake's saved state", async () => {
    await editFile('_pricelake/memory.ndjson', (text) => text.replace(/"runNumber":"\d/, '"runNumber":"9'));
    const findings = await verify();
    expect(findings).toEqual({
      landing: expect.stringMatching(/memory\.ndjson line \d+ has changed since it was written: its checksum differs/),
    });
  });

  test("a missing file of the lake's saved state, and a lake.json with another time, which no table has", async () => {
    await rm(path.join(lake.root, '_pricelake', 'memory.ndjson'));
    await editFile('lake.json', (text) => text.replace('"at": "2', '"at": "1'));
    const findings = await verify();
    expect(findings.landing).toBe('_pricelake/memory.ndjson is missing or empty');
    expect(findings.pointer).toMatch(/^lake\.json is not the text that pricelake writes for these tables/);
  });

  test('altered statistics in a log, with bounds that are too tight or too wide', async () => {
    await editAdds('items', [
      [/(\\"minValues\\":\{\\"item_id\\":)\d+/, '$19223372036854775000'],
      [/(\\"maxValues\\":\{\\"item_id\\":)\d+/, '$19223372036854775000'],
      [/(\\"maxValues\\":\{.*?\\"price\\":)\d+\.\d+/, '$10.0001'],
      [/(\\"first_seen_at\\":\\")\d{4}/, '$12031'],
      [/(\\"maxValues\\":\{.*?\\"title\\":\\")[^\\]+/, '$1AAA'],
      [/(\\"nullCount\\":\{.*?\\"brand\\":)\d+/, '$1999'],
    ]);
    const findings = await verify();
    expect(Object.keys(findings)).toEqual(['rows']);
    const bounds = ['min of item_id', 'max of item_id', 'max of price', 'min of first_seen_at', 'max of title'];
    for (const bound of bounds) expect(findings.rows).toContain(`${bound} is`);
    expect(findings.rows).toContain('brand has');
    expect(findings.rows?.split('\n')).toHaveLength(6);
  });

  test('an altered row count, checksum and partition value in a log', async () => {
    await editAdds('items', [
      [/\\"numRecords\\":\d+/, '\\"numRecords\\":7777'],
      [/(pricelake\.sha256":")..../, '$1beef'],
      [/(\{"site_id":")\d+/, '$1424242'],
    ]);
    const findings = await verify();
    expect(findings.footers).toMatch(/^items\/\S+ has \d+ rows, but the log records 7777$/);
    expect(findings.files).toMatch(/^items\/\S+ has SHA-256 [0-9a-f]{64}, but the log records beef/);
    expect(findings.rows).toMatch(/site_id is not 424242 in all rows, unlike in the log/);
  });

  test('a log with a missing entry, a torn entry, and a checkpoint that differs from the log', async () => {
    await rm(inLake('sites', '_delta_log', '00000000000000000000.json'));
    await editLog('items', (text) => `${text.slice(0, -30)}\n`);
    const checkpoint = inLake('datasets', '_delta_log', '00000000000000000010.checkpoint.parquet');
    const db = await Database.open();
    await db.run(`COPY (FROM read_parquet('${checkpoint}') WHERE txn IS NULL) TO '${checkpoint}.new' (FORMAT parquet)`);
    await db.close();
    await rm(checkpoint);
    await cp(`${checkpoint}.new`, checkpoint);
    const logs = (await verify()).logs;
    expect(logs).toMatch(/^items its log can't be replayed: \d{20}\.json: line \d+ is not JSON/m);
    expect(logs).toMatch(/^sites its log can't be replayed: its first entries are missing/m);
    expect(logs).toMatch(/^datasets\/_delta_log\/0*10\.checkpoint\.parquet its txn actions don't match the commits/m);
  });

  test("a lake.json, a catalog and credits that don't fit the tables", async () => {
    await editFile('lake.json', (text) =>
      text.replace(/"cursor": "\d+/, '"cursor": "7').replace(/"bytes": \d+/, '"bytes": 7'),
    );
    await editFile('catalog.sql', (text) => text.replace(/'items\/[^']+'/, "'items/none.parquet'"));
    await editFile('ATTRIBUTION.md', (text) => `${text}\nmore\n`);
    const pointer = (await verify()).pointer;
    expect(pointer).toMatch(/^lake\.json has cursor 7\d*, but history is at \d+/m);
    expect(pointer).toMatch(/^lake\.json records different rows, bytes or a different checksum for \S+ than the log/m);
    expect(pointer).toMatch(/^catalog\.sql names items\/none\.parquet, which no table has/m);
    expect(pointer).toMatch(/^ATTRIBUTION\.md doesn't have the credits/m);
  });

  test("a run that didn't continue where the previous one ended, and row counts that don't add up", async () => {
    const last = '(SELECT max(run_number) FROM runs)';
    await rewrite(
      'runs',
      `SELECT * REPLACE (
      CASE WHEN run_number = ${last} THEN cursor_from - 1 ELSE cursor_from END AS cursor_from,
      CASE WHEN run_number = 1 THEN rejected + 2 ELSE rejected END AS rejected) FROM runs`,
    );
    const findings = await verify();
    expect(findings.cursors).toMatch(/^runs run \S+ continued from cursor \d+; the run before it had reached \d+$/);
    expect(findings['row equation']).toMatch(
      /^runs run 000001-\S+ received \d+ rows, but .*\n.* rejected 2 rows, but the rejects table has 0/,
    );
    expect(Object.keys(findings)).toEqual(['cursors', 'row equation']);
  });

  test('items that contradict history', async () => {
    await rewrite(
      'items',
      `SELECT * REPLACE (CASE WHEN change_id = ${PRICED} THEN price + 0.0001 ELSE price END AS price) FROM items`,
    );
    expect(await verify()).toEqual({
      history: expect.stringMatching(/^items item \d+: price is not the one of its last change$/),
    });
  });

  test('derived tables of older items only as a note, because a killed run leaves them', async () => {
    await rewrite('items', 'SELECT * REPLACE (price + 0.0001 AS price) FROM items');
    expect((await readProofs(lake.root)).find(({ name }) => name === 'derived')).toMatchObject({
      found: 0,
      notes: expect.arrayContaining([
        expect.stringMatching(/^product_prices was derived from an older version of items/),
      ]),
    });
  });

  test('a derived table only as a note if another version of pricelake made it with another query', async () => {
    const otherWords = "SELECT * REPLACE ('other words' AS reason) FROM offers";
    await rewrite('offers', otherWords, { query: 1n });
    const derived = (await readProofs(lake.root)).find(({ name }) => name === 'derived');
    expect(derived).toMatchObject({
      found: 0,
      notes: ['offers was derived by another version of pricelake; the next run derives it again'],
    });
  });

  test('a change missing from history, and a change that occurs twice', async () => {
    await rewrite(
      'history',
      `SELECT * REPLACE (CASE WHEN change_id = (SELECT min(change_id) FROM history)
      THEN (SELECT max(change_id) FROM history) ELSE change_id END AS change_id)
      FROM history WHERE change_id <> ${PRICED}`,
    );
    const findings = await verify();
    expect(findings.history).toMatch(/^items item \d+: change \d+ is not in history/m);
    expect(findings.keys).toMatch(/^history has change_id \d+ 2 times$/);
  });
});

test('verify passes on the empty lake of a first sync that ended in a config error', async () => {
  const empty = await openWorld({ items: 5, sites: 1, pastDays: 2 });
  onTestFinished(() => empty.close());
  empty.pipeline.source.datasets = [4711n];
  await expect(empty.sync()).rejects.toMatchObject({ code: 'config' });
  await runVerify({ lake: empty.lakePath }, openContext(true));
});
