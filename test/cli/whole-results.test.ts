import { readdirSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { runQuery } from '../../src/cli/actions/run-query.js';
import { readLake } from '../../src/cli/read-lake.js';
import { Database } from '../../src/sql/connection.js';
import { publishLake } from './lake-fixture.js';
import { MemoryOutput, openContext } from './open-context.js';
import { runHere } from './pricelake.js';

const ROWS = 200_000;

/** Publishes a lake with many items in one file and two items in others. */
async function publishMany(): Promise<{ lake: string; file: string }> {
  const lake = await publishLake();
  const names = readdirSync(join(lake, 'items'), { recursive: true }).map(String);
  const file = join(lake, 'items', names.find((name) => name.endsWith('.parquet')) ?? '');
  const db = await Database.open();
  const one = `(FROM read_parquet('${file}', hive_partitioning = false) LIMIT 1)`;
  await db.run(`COPY (SELECT * REPLACE (n AS item_id, md5(n::VARCHAR) AS title) FROM ${one}, range(${ROWS}) t(n))
    TO '${file}.new' (FORMAT parquet, COMPRESSION zstd)`);
  await db.close();
  await rename(`${file}.new`, file);
  return { lake, file };
}

const many = await publishMany();
const damaged = await publishMany();
const bytes = await readFile(damaged.file);
const middle = Math.floor(bytes.length * 0.8);
bytes.fill(255, middle, middle + 300_000);
await writeFile(damaged.file, bytes);
afterAll(async () => {
  for (const { lake } of [many, damaged]) await rm(dirname(lake), { recursive: true });
});

const failsAfter = (rows: number) =>
  `SELECT CASE WHEN i < ${rows} THEN i ELSE error('late') END AS n FROM range(${rows + 50_000}) t(i)`;
const query = (sql: string, ...more: string[]) => runHere(['query', sql, '--lake', many.lake, ...more]);

describe('a query that fails after many rows', () => {
  test.each(['csv', 'ndjson', 'json', 'arrow', 'parquet'])('writes nothing as %s, and fails', async (format) => {
    const { code, stdout, stderr } = await query(failsAfter(150_000), '--format', format);
    expect([code, stdout.length]).toEqual([2, 0]);
    expect(stderr).toContain('pricelake: Invalid Input Error: late');
  });

  test('prints one JSON line with the error if --json is given', async () => {
    const outcome = await query(failsAfter(150_000), '--json');
    expect(outcome.code).toBe(2);
    expect(JSON.parse(outcome.stdout)).toMatchObject({ ok: false, error: { code: 'query' } });
  });

  test('still fails if it is so long that its first rows are already written', async () => {
    const { code, stdout, stderr } = await query(failsAfter(1_100_000), '--format', 'csv');
    expect(code).toBe(2);
    expect(stdout.length).toBeGreaterThan(1_000_000);
    expect(stderr).toContain('pricelake: Invalid Input Error: late');
  });
});

describe('a damaged data file', () => {
  test.each(['csv', 'ndjson', 'json', 'arrow', 'parquet'])('leaves no partial %s output', async (format) => {
    const args = ['query', 'SELECT item_id, title FROM items', '--lake', damaged.lake, '--format', format];
    const { code, stdout, stderr } = await runHere(args);
    expect([code, stdout.length]).toEqual([2, 0]);
    expect(stderr).toContain(`${damaged.lake}: a data file is missing or damaged: `);
    expect(stderr).toContain('pricelake verify');
  });
});

describe('a run that replaces files while a command reads them', () => {
  const away = () => rename(many.file, `${many.file}.away`);
  const back = () => rename(`${many.file}.away`, many.file);

  test('truncates no result, however slowly it is read', async () => {
    const output = new (class extends MemoryOutput {
      override async write(chunk: string | Uint8Array) {
        if (this.chunks.length === 0) await away();
        return super.write(chunk);
      }
    })();
    const request = { lake: many.lake, sql: 'SELECT item_id FROM items', format: 'csv', memory: '1GB' } as const;
    await runQuery(request, { ...openContext(), output }).finally(back);
    expect(output.text.trim().split('\r\n')).toHaveLength(1 + ROWS + 2);
  });

  test.each([
    [false, 2],
    [true, 1],
  ])('makes the command start again unless it has begun to write (%s)', async (hasBegun, tries) => {
    let tried = 0;
    const { signal } = new AbortController();
    const output = { write: async () => true, columns: undefined, hasBegun };
    const read = readLake({ path: many.lake, signal, output }, async ({ db }) => {
      tried += 1;
      if (tried > 1) return db.row('SELECT count(title) AS n FROM items');
      await away();
      return db.row('SELECT max(title) AS n FROM items').finally(back);
    });
    if (hasBegun) await expect(read).rejects.toMatchObject({ code: 'unavailable' });
    else expect(await read).toEqual({ n: BigInt(ROWS + 2) });
    expect(tried).toBe(tries);
  });
});
