/** Several lakes combined into one: which row is used if they differ, what the union claims, and which lakes can't be combined. */
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openJoined } from '../../src/cli/actions/explore-lake.js';
import { startSandbox } from '../../src/sandbox/start.js';
import { Database } from '../../src/sql/connection.js';
import { code } from '../../src/sql/sql.js';
import { bindUnion } from '../../src/union/queries.js';
import { openContext } from '../cli/open-context.js';
import { readJsonLine, runHere, runPricelake } from '../cli/pricelake.js';
import { startS3, withCredentials } from '../remote/s3-server.js';

const sandbox = await startSandbox({ items: 200, sites: 6, ratePerSecond: null });
const other = await startSandbox({ items: 40, sites: 3, ratePerSecond: null });
const cwd = await mkdtemp(path.join(tmpdir(), 'pricelake-union-'));
afterAll(async () => {
  await Promise.all([sandbox.close(), other.close()]);
  await rm(cwd, { recursive: true });
});

const run = (...args: string[]) =>
  runHere(args, {
    cwd,
    env: { KEY: sandbox.keys.live, OTHER: other.keys.live, XDG_CACHE_HOME: path.join(cwd, 'cache') },
  });
const query = async (lakes: readonly string[], sql: string) => {
  const outcome = await run('query', ...lakes.flatMap((lake) => ['--lake', lake]), '--json', sql);
  expect(outcome).toMatchObject({ code: 0 });
  return (readJsonLine(outcome) as { rows: Record<string, unknown>[] }).rows;
};

const writePipeline = (name: string, source: string, lake = name) =>
  writeFile(
    path.join(cwd, `${name}.yaml`),
    `name: ${name}\nsource: {${source}, history: none}\nlake: {path: ./${lake}}\n`,
  );

/** `late` lacks the last changes. Its listings in Central Europe are also in `early`. */
beforeAll(async () => {
  const source = `baseUrl: "${sandbox.baseUrl}", apiKey: "\${KEY}"`;
  await writePipeline('late', `${source}, datasets: [26]`);
  await writePipeline('early', `${source}, datasets: [11, 14, 17, 20, 23]`);
  await writePipeline('foreign', `baseUrl: "${other.baseUrl}", apiKey: "\${OTHER}"`);
  for (const name of ['late', 'early', 'foreign']) expect(await run('sync', `${name}.yaml`)).toMatchObject({ code: 0 });
  await sandbox.advance({ hours: 20, changes: 150 });
  expect(await run('sync', 'early.yaml')).toMatchObject({ code: 0 });
}, 120_000);

describe('a listing in two lakes', () => {
  const COLUMNS = 'item_id, price, is_listed, last_changed_at, title';

  test('gets its row from the lake that knows more, in any order of the lakes', async () => {
    const [late, early] = [
      await query(['late'], `SELECT ${COLUMNS} FROM items`),
      await query(['early'], `SELECT ${COLUMNS} FROM items`),
    ];
    const both = late.filter((one) => early.some(({ item_id }) => item_id === one.item_id));
    const changed = both.filter((one) => !early.some((row) => JSON.stringify(row) === JSON.stringify(one)));
    expect(changed.length).toBeGreaterThan(5);
    for (const lakes of [
      ['late', 'early'],
      ['early', 'late'],
    ]) {
      const rows = await query(lakes, `SELECT ${COLUMNS} FROM items`);
      expect(rows).toHaveLength(late.length + early.length - both.length);
      for (const row of early) expect(rows).toContainEqual(row);
    }
  });

  test('contains each change exactly once', async () => {
    const [row] = await query(
      ['late', 'early'],
      'SELECT count(*) AS rows, count(DISTINCT change_id) AS ids FROM history',
    );
    expect(row?.rows).toBe(row?.ids);
  });
});

describe('the union', () => {
  test('claims to be no more current than the lake that is furthest behind', async () => {
    const ledger = 'SELECT finished_at, caught_up, caught_up_at, cursor_to FROM runs ORDER BY run_number DESC LIMIT 1';
    const [[late], [early], union] = [
      await query(['late'], ledger),
      await query(['early'], ledger),
      await query(['late', 'early'], ledger),
    ];
    expect(early?.caught_up_at).not.toEqual(late?.caught_up_at);
    expect(union).toEqual([late]);
    const outcome = await run('report', '--lake', 'late', '--lake', 'early', '--output', 'report.html', '--json');
    const { last_run_at, current_up_to } = readJsonLine(outcome) as Record<string, string>;
    const instants = (times: unknown[]) => times.map((time) => Date.parse(String(time)));
    expect(instants([last_run_at, current_up_to])).toEqual(instants([late?.finished_at, late?.caught_up_at]));
  });

  test("reports the sum of the lakes' violations for each check", async () => {
    const found = await query(
      ['late', 'early'],
      `SELECT count(*) AS checks, sum(violations) AS found FROM check_results`,
    );
    const own = async (lake: string) =>
      query(
        [lake],
        `SELECT count(*) AS checks, sum(violations) AS found FROM check_results
        WHERE run_id = (SELECT max(run_id) FROM check_results)`,
      );
    const [[late], [early]] = [await own('late'), await own('early')];
    expect(found).toEqual([{ checks: late?.checks, found: Number(late?.found) + Number(early?.found) }]);
  });
});

describe('a lake in object storage', () => {
  test('can be one of several lakes', async () => {
    const s3 = await startS3();
    const restore = withCredentials();
    onTestFinished(async () => {
      restore();
      await s3.close();
    });
    const address = `s3://bucket/late?endpoint=${s3.endpoint}`;
    await writeFile(
      path.join(cwd, 'sent.yaml'),
      `source: {baseUrl: "${sandbox.baseUrl}", apiKey: "\${KEY}", datasets: [26], history: none}\nlake: {path: ./sent, remote: "${address}"}\n`,
    );
    expect(await run('sync', 'sent.yaml')).toMatchObject({ code: 0 });
    const sql = 'SELECT item_id::VARCHAR AS item_id, price::VARCHAR AS price, is_listed FROM items';
    // Both lakes know the same changes, so it doesn't matter which of them a shared row comes from.
    const rows = [...(await query(['sent'], sql)), ...(await query(['early'], sql))];
    const expected = new Map(rows.map((row) => [row.item_id, row]));
    const found = await query([address, 'early'], sql);
    expect(found).toHaveLength(expected.size);
    for (const row of found) expect(row).toEqual(expected.get(row.item_id));
  });
});

describe('the source of a result', () => {
  test('names the run of each lake', async () => {
    const lakes = ['late', 'early'].flatMap((lake) => ['--lake', lake]);
    const outcome = await run('query', ...lakes, '--explain-source', '--json', 'FROM sites');
    expect(outcome.stdout).toContain('early as of run 2, late as of run 1');
  });
});

describe('explore', () => {
  test('shows several lakes as one, which is reused until one of them has a new version', async () => {
    await cp(path.join(cwd, 'late'), path.join(cwd, 'followed'), { recursive: true });
    const listFiles = () => readdir(path.join(cwd, 'followed'), { recursive: true });
    const before = await listFiles();
    let page: Promise<string[]> | undefined;
    const lakes = ['followed', 'early'].map((name) => path.join(cwd, name));
    const cache = path.join(cwd, 'explored');
    const named = [...lakes.flatMap((lake) => ['--lake', lake]), '--cache', cache];
    const { stdout } = await runPricelake(['explore', ...named], {
      cwd,
      act: (child) =>
        child.stdout?.once('data', (chunk) => {
          page = readPages(String(chunk).split('\n', 1)[0] ?? '').finally(() => child.kill());
        }),
    });
    expect(stdout).toContain('http://127.0.0.1');
    const [today = '', copy = ''] = (await page) ?? [];
    expect(today).toContain('early, late');
    expect(copy).toContain('several lakes shown as one, and checked for changes once a minute');
    const listUnions = async () => {
      const [set = ''] = await readdir(path.join(cache, 'unions'));
      return readdir(path.join(cache, 'unions', set));
    };
    const first = await listUnions();
    expect(first).toHaveLength(1);
    const context = { io: openContext().io, signal: new AbortController().signal };
    const source = await openJoined({ lake: lakes, cache }, context);
    const { root } = source.lake;
    await source.refresh?.();
    expect(source.lake.root).toBe(root);
    expect(await run('spread', ...named)).toMatchObject({ code: 0 });
    expect(await listUnions()).toEqual(first);
    // Reading writes nothing to the lakes.
    expect(await listFiles()).toEqual(before);
    expect(await run('sync', 'late.yaml', '--lake', 'followed')).toMatchObject({ code: 0 });
    await source.refresh?.();
    expect(source.lake.root).not.toBe(root);
    expect(await listUnions()).toHaveLength(2);
  });

  /** The first page, which sets the cookie, and the page about the copy. */
  async function readPages(url: string): Promise<string[]> {
    const entered = await fetch(url, { redirect: 'manual' });
    const cookie = entered.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
    const get = async (at: string) => (await fetch(new URL(at, url), { headers: { cookie } })).text();
    return [await get('/'), await get('/copy')];
  }
});

describe("lakes that can't be combined are refused", () => {
  test.each([
    [['late', './late/../late'], 'late is given twice', 'Give each lake once.'],
    [['late', 'missing'], 'missing', ''],
    [['late', 'fresh'], 'no run has published data in this lake yet', 'Run `pricelake sync` for this lake first'],
    [['late', 'newer'], 'format', 'rebuild'],
    [['late', 'foreign'], 'from different services', 'Choose lakes from the same service.'],
    [['s3://bucket/lake'], 'not an address', '--remote'],
  ])('%s', async (lakes, message, hint) => {
    await mkdir(path.join(cwd, 'fresh/_pricelake'), { recursive: true });
    await mkdir(path.join(cwd, 'newer/_pricelake'), { recursive: true });
    const marker = await readFile(path.join(cwd, 'late/_pricelake/format.json'), 'utf8');
    await writeFile(path.join(cwd, 'fresh/_pricelake/format.json'), marker);
    await writeFile(path.join(cwd, 'newer/_pricelake/format.json'), marker.replace(/"version":\d+/u, '"version":99'));
    const { code, stderr } = await run('query', ...lakes.flatMap((lake) => ['--lake', lake]), 'FROM sites');
    const text = stderr.replaceAll(/\s+/gu, ' ');
    expect(code).toBe(2);
    expect(text).toContain(message);
    expect(text).toContain(hint);
  });

  test.each([
    ['--as-of', '1'],
    ['--remote', 's3://bucket/lake'],
  ])('several lakes with the option %s', async (...more) => {
    const { code, stderr } = await run('query', '--lake', 'late', '--lake', 'early', ...more, 'FROM sites');
    expect(code).toBe(2);
    expect(stderr).toContain(`${more[0]} can't be used with more than one --lake`);
  });
});

describe('history rows without a change id', () => {
  /** Combines history rows, written as `lake change item minute kind`, and returns those that are kept. */
  async function keep(...rows: readonly string[]): Promise<string[]> {
    const db = await Database.open();
    try {
      const values = rows.map((row) => {
        const [lake, change, item, minute, kind] = row.split(' ');
        return `(${lake}::BIGINT, ${change}::BIGINT, ${item}::BIGINT, TIMESTAMPTZ '2026-11-20 10:00:00Z' + INTERVAL (${minute}) MINUTE,
          '${kind}', '${change === 'NULL' ? 'diff' : 'feed'}', '${row}')`;
      });
      await db.run(
        `CREATE TABLE rows AS FROM (VALUES ${values.join(', ')}) AS t(lake, change_id, item_id, observed_at, kind, origin, name)`,
      );
      const left = bindUnion('left_history', { all_history: code('FROM main.rows') });
      const kept = await db.rows(`SELECT name FROM rows ANTI JOIN (${left.text}) AS l
        ON l.lake = rows.lake AND l.change_id IS NOT DISTINCT FROM rows.change_id AND l.item_id IS NOT DISTINCT FROM rows.item_id
          AND l.observed_at = rows.observed_at AND l.kind = rows.kind`);
      return kept.map(({ name }) => String(name));
    } finally {
      await db.close();
    }
  }

  test('are left out if another lake has the same change with its id', async () => {
    expect(await keep('0 NULL 7 1 CHANGED', '1 50 7 0 CHANGED')).toEqual(['1 50 7 0 CHANGED']);
  });

  test('are kept if the change differs', async () => {
    const rows = ['0 NULL 7 9 CHANGED', '1 50 7 0 CHANGED', '1 51 7 9 REMOVED', '1 52 8 9 CHANGED'];
    expect(await keep(...rows)).toEqual(rows);
  });

  test('are kept if their own lake also has the change with its id', async () => {
    const rows = ['0 NULL 7 1 CHANGED', '0 50 7 0 CHANGED'];
    expect(await keep(...rows, '1 50 7 0 CHANGED')).toEqual(rows);
  });

  test('are added once if two lakes found the same difference', async () => {
    expect(await keep('0 NULL 7 1 CHANGED', '1 NULL 7 1 CHANGED')).toEqual(['0 NULL 7 1 CHANGED']);
  });

  test('are all kept if one lake has several of them at the same time', async () => {
    const rows = ['0 NULL 7 1 CHANGED', '0 NULL 7 1 CHANGED'];
    expect(await keep(...rows)).toEqual(rows);
    expect(await keep(...rows, '1 NULL 7 1 CHANGED')).toEqual(rows);
  });

  test('a change without its item is replaced by the same change with it', async () => {
    expect(await keep('0 50 NULL 0 CHANGED', '1 50 7 0 CHANGED')).toEqual(['1 50 7 0 CHANGED']);
  });
});
