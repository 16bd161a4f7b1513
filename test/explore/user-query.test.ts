import { readdir, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openClient } from '../cli/mcp/open-client.js';
import { type Explored, explore, tellMarket } from './explored.js';

/** SQL that DuckDB neither bounds nor stops, within one value. */
const LONG = "(SELECT string_agg(title || range, '') FROM items, range(3000))";
const HEAVY: [what: string, sql: string][] = [
  ['memory of one list', "SELECT length(string_agg('0123456789abcdef' || range, '')) FROM range(400000000)"],
  ['memory of a distance', `SELECT damerau_levenshtein(${LONG}, reverse(${LONG}))`],
  ['time of a distance', `SELECT levenshtein(${LONG} || ${LONG}, reverse(${LONG} || ${LONG}))`],
];
const MOST_BYTES = 1_500_000_000;
const MOST_MS = 60_000;

let explored: Explored;
beforeAll(async () => {
  explored = await explore(await tellMarket());
});
afterAll(async () => {
  await explored.close();
  await explored.story.close();
});

/** The most that any process of `query`, a child of `parent`, took while `work` ran. */
async function measureChildren<T>(
  parent: number,
  work: () => Promise<T>,
): Promise<{ result: T; bytes: number; ms: number }> {
  let bytes = 0;
  const look = async () => {
    for (const name of (await readdir('/proc')).filter((one) => /^\d+$/u.test(one))) {
      const status = await readFile(`/proc/${name}/status`, 'utf8').catch(() => '');
      if (!new RegExp(`^PPid:\\s*${parent}$`, 'mu').test(status)) continue;
      bytes = Math.max(bytes, 1024 * Number(/^VmHWM:\s*(\d+)/mu.exec(status)?.[1] ?? 0));
    }
  };
  const timer = setInterval(() => void look(), 50);
  const begun = performance.now();
  try {
    return { result: await work(), bytes, ms: performance.now() - begun };
  } finally {
    clearInterval(timer);
  }
}

describe.skipIf(process.platform !== 'linux')("SQL that DuckDB can't limit itself", () => {
  test.each(HEAVY)(
    '%s is stopped on the SQL page, which keeps working',
    async (_, sql) => {
      const ask = (text: string) => explored.page(`/sql?sql=${encodeURIComponent(text)}`);
      const { result, bytes, ms } = await measureChildren(process.pid, () => ask(sql));
      expect(result).toMatch(/(?:took longer than|used too much memory).*was stopped|Out of Memory/u);
      expect([bytes < MOST_BYTES, ms < MOST_MS, bytes, ms]).toEqual([true, true, bytes, ms]);
      expect(await ask('SELECT 1 AS one')).toContain('1 row in');
    },
    150_000,
  );

  test('an agent’s query is stopped at --timeout, and the server keeps working', async () => {
    const { call, refuse, close } = await openClient(['--lake', explored.story.lakePath, '--timeout', '3s']);
    try {
      for (const [, sql] of HEAVY) {
        expect((await refuse('query', { sql })).message).toMatch(
          /took longer than 3 seconds|used too much memory|Out of Memory/u,
        );
      }
      expect((await call('query', { sql: 'SELECT count(*) AS n FROM items' })).isError).toBe(false);
    } finally {
      await close();
    }
  }, 150_000);
});

test('a normal query keeps its types and can read past prices', async () => {
  const { call, close } = await openClient(['--lake', explored.story.lakePath]);
  const { value } = await call('query', {
    sql: "SELECT 1.50::DECIMAL(9, 2) AS d, 9007199254740993 AS n, TIMESTAMPTZ '2026-01-01 00:00:00Z' AS t, [1, 2] AS l, NULL AS e -- so\n;",
  });
  expect(value.rows).toEqual([{ d: '1.50', n: '9007199254740993', t: '2026-01-01T00:00:00Z', l: [1, 2], e: null }]);
  expect((await call('query', { sql: 'SELECT count(*) > 0 AS some FROM price_spells' })).value.rows).toEqual([
    { some: true },
  ]);
  expect((await call('query', { sql: 'DESCRIBE items' })).value.rows.length).toBeGreaterThan(10);
  await close();
}, 60_000);
