import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start.js';
import { readJsonLine, runHere } from '../pricelake.js';
import { type Opened, openClient, type Told } from './open-client.js';

const sandbox = await startSandbox({ items: 120, sites: 2, ratePerSecond: null });
const folder = await mkdtemp(join(tmpdir(), 'pricelake-mcp-money-'));
const pipeline = join(folder, 'prices.yaml');
const key = sandbox.keys.live;
/** The address and the key come from the environment. */
const SOURCE = `source: {baseUrl: '\${PRICELAKE_BASE_URL}', apiKey: '\${PRICELAKE_API_KEY}'}`;
await writeFile(
  pipeline,
  `source: {baseUrl: '${sandbox.baseUrl}', apiKey: '\${PRICELAKE_API_KEY}'}\nlake: {path: '${folder}/lake'}\nproof: {sample: 5}\n`,
);
const env = { PRICELAKE_API_KEY: key };
const first = readJsonLine(await runHere(['sync', pipeline, '--json'], { env }));
expect(first.published).toBe(true);
afterAll(async () => {
  await sandbox.close();
  await rm(folder, { recursive: true });
});

const readUsage = async (): Promise<{ apiCalls: number; exportRows: number }> => {
  const answer = await fetch(`${sandbox.baseUrl}/api/v1/plan`, { headers: { authorization: `Bearer ${key}` } });
  return ((await answer.json()) as { usage: { apiCalls: number; exportRows: number } }).usage;
};
const countCalls = async () => BigInt((await readUsage()).apiCalls);

async function withClient<T>(args: string[], work: (opened: Opened) => Promise<T>, file = pipeline): Promise<T> {
  const opened = await openClient([file, ...args], env);
  try {
    return await work(opened);
  } finally {
    await opened.close();
  }
}

const readPaid = (told: Record<string, unknown>) => told.paid as { calls: string; export_rows: string };

test('plan reports the cost of a sync, and the calls that the plan itself took', () =>
  withClient([], async ({ call }) => {
    await sandbox.advance({ hours: 6, changes: 20 });
    const before = await countCalls();
    const { value, isError } = await call('plan');
    const counted = (await countCalls()) - before - 1n;
    expect([isError, readPaid(value).calls]).toEqual([false, String(counted)]);
    const printed = readJsonLine(await runHere(['plan', pipeline, '--json'], { env }));
    expect([value.mode, value.calls, value.export_rows]).toEqual([
      printed.mode,
      printed.calls,
      String(printed.export_rows),
    ]);
    expect(value).toMatchObject({ digest: expect.stringMatching(/^[0-9a-f]{32}$/u), refusal: null });
    expect((await call('plan')).value.digest).toBe(value.digest);
  }));

test('sync is offered only if the server allows it', () =>
  withClient([], async ({ client, call }) => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).not.toContain('sync');
    const { digest } = (await call('plan')).value;
    const before = await countCalls();
    const refused = await call('sync', { digest }).catch((error: Error) => ({ isError: true, texts: [error.message] }));
    expect([refused.isError, refused.texts.join()]).toEqual([true, expect.stringMatching(/sync/u)]);
    // Counting takes a call itself.
    expect((await countCalls()) - before).toBe(1n);
  }));

describe('with --allow-sync', () => {
  test('sync refuses a wrong digest, runs once with the right one, and reports every call', () =>
    withClient(['--allow-sync', '--max-calls', '200', '--max-rows', '100000'], async ({ client, call, refuse }) => {
      expect((await client.listTools()).tools.map(({ name }) => name)).toContain('sync');
      const before = await countCalls();
      for (const digest of ['0'.repeat(32), 'x', ''])
        expect((await refuse('sync', { digest })).message).toMatch(/digest/u);
      const planned = (await call('plan')).value;
      const { digest } = planned;
      const synced = await call('sync', { digest });
      expect([synced.isError, synced.texts.join()]).toEqual([false, expect.any(String)]);
      expect(synced.value).toMatchObject({ published: true, run_number: '2', caught_up: true });
      const counted = (await countCalls()) - before - 1n;
      const paid = [planned, synced.value].map((told) => BigInt(readPaid(told).calls));
      expect(paid.reduce((sum, calls) => sum + calls, 0n)).toBe(counted);
      expect(synced.value.calls).toBe(readPaid(synced.value).calls);
      expect(synced.value).toMatchObject({ session: { spent: { calls: String(counted) } } });
      expect((await refuse('sync', { digest })).message).toBe('no plan in this session has this digest');
      const { value } = await call('describe');
      expect(value.run).toMatchObject({ number: '2' });
    }));

  test('a plan for an older version of the lake is refused', () =>
    withClient(['--allow-sync', '--max-calls', '200'], async ({ call, refuse }) => {
      await sandbox.advance({ hours: 6, changes: 20 });
      const { digest } = (await call('plan')).value;
      await runHere(['sync', pipeline, '--json'], { env });
      expect((await refuse('sync', { digest })).message).toBe('the lake has changed since the plan was made');
    }));

  test("calls end exactly at the session's budget", () =>
    withClient(['--allow-sync', '--max-calls', '3'], async ({ call, refuse }) => {
      const before = await countCalls();
      const answers = [await call('plan'), await call('plan'), await call('plan')].map(({ value }) => value as Told);
      expect(answers.at(-1)).toMatchObject({ session: { left: { calls: '0' } } });
      expect((await countCalls()) - before - 1n).toBe(3n);
      expect(await refuse('plan')).toMatchObject({
        code: 'budget',
        message: expect.stringMatching(/--max-calls allows 3 calls/u),
      });
    }));

  test("a plan beyond the session's budget has no digest and says why", () =>
    withClient(['--allow-sync', '--max-calls', '12', '--max-rows', '10'], async ({ call }) => {
      const { value } = await call('plan', { reconcile: true });
      expect(value).toMatchObject({
        digest: null,
        refusal: {
          code: 'budget',
          message: expect.stringMatching(
            /^the session's budget is too small: the plan needs \d+ calls, but only \d are left$/u,
          ),
        },
      });
    }));
});

test("a failed run is charged what the service counts, and stays within the session's rows", () =>
  withClient(['--allow-sync', '--max-calls', '200', '--max-rows', '300'], async ({ call }) => {
    const { digest } = (await call('plan', { reconcile: true })).value;
    const before = (await readUsage()).exportRows;
    sandbox.armFaults(['export:drop']);
    const { isError, value } = await call('sync', { digest });
    sandbox.armFaults([]);
    const counted = (await readUsage()).exportRows - before;
    expect([isError, readPaid(value).export_rows]).toEqual([true, String(counted)]);
    expect(counted).toBeGreaterThan(0);
    expect(counted).toBeLessThanOrEqual(300);
    expect(value).toMatchObject({ session: { left: { export_rows: String(300 - counted) } } });
  }));

/** A lake of a service of its own, with the plan of its next run, before the world moves by `move`. */
async function planBefore(name: string, move: (other: Sandbox) => Promise<unknown>) {
  const other = await startSandbox({ items: 9000, sites: 2, ratePerSecond: null, readings: ['feed.oldCursor=410'] });
  onTestFinished(() => other.close());
  const file = join(folder, `${name}.yaml`);
  const secret = { PRICELAKE_API_KEY: other.keys.live, PRICELAKE_BASE_URL: other.baseUrl };
  await writeFile(file, `${SOURCE}\nlake: {path: '${folder}/${name}'}\nproof: {sample: 5}\n`);
  await runHere(['sync', file, '--json'], { env: secret });
  const opened = await openClient([file, '--allow-sync', '--max-calls', '500', '--max-rows', '100000'], secret);
  onTestFinished(opened.close);
  await other.advance({ hours: 6, changes: 20 });
  const planned = (await opened.call('plan')).value;
  await move(other);
  const { value, isError } = await opened.call('sync', { digest: planned.digest });
  const { error, paid } = value as unknown as { error: Refused; paid: Cost };
  return { opened, isError, error, paid, allows: planned.allows as Cost };
}
type Cost = { calls: string; export_rows: string };
type Refused = { code: string; message: string; facts: { plan: { digest: string; looked: number } } };

test.each([
  ['more changes wait', (other: Sandbox) => other.advance({ hours: 6, changes: 20_000 })],
  [
    'its cursor has expired',
    async (other: Sandbox) => {
      other.changeAccount({ limits: { historyDays: 0.001 } });
      await other.advance({ hours: 6, changes: 20 });
    },
  ],
])('if %s, a run that needs more than its plan allows ends first and returns the new plan', async (why, move) => {
  const { opened, isError, error, paid, allows } = await planBefore(why.replaceAll(' ', '-'), move);
  expect([isError, error.code, error.message]).toEqual([
    true,
    'budget',
    expect.stringMatching(/^the run stopped because it needs more/u),
  ]);
  const { digest, looked } = error.facts.plan;
  expect([allows.export_rows, paid.export_rows]).toEqual(['0', '0']);
  expect(Number(paid.calls) - looked).toBeLessThanOrEqual(Number(allows.calls));
  expect((await opened.call('sync', { digest })).value).toMatchObject({ published: true });
});

test('sync reads the item histories that its plan includes', async () => {
  const file = join(folder, 'histories.yaml');
  const write = (history: 'none' | 'items') =>
    writeFile(
      file,
      `source: {baseUrl: '${sandbox.baseUrl}', apiKey: '\${PRICELAKE_API_KEY}', history: ${history}}\nlake: {path: '${folder}/histories'}\n`,
    );
  await write('none');
  await runHere(['sync', file, '--json'], { env });
  await write('items');
  const read = async ({ call }: Opened) => {
    const { rows } = (await call('query', { sql: 'SELECT CAST(count(*) AS INTEGER) AS items FROM items' })).value;
    const { digest, calls } = (await call('plan')).value;
    const { value } = await call('sync', { digest });
    expect(value).toMatchObject({ published: true, histories: { asked: rows[0]?.items, left: 0 } });
    expect(BigInt(readPaid(value).calls)).toBeLessThanOrEqual(BigInt(Number(calls)));
  };
  await withClient(['--allow-sync', '--max-calls', '500'], read, file);
});

test('a client can list and call every tool', async () => {
  const list = join(folder, 'mine.csv');
  await writeFile(list, 'product,price,currency\nnone,3,EUR\n');
  const args = ['--allow-sync', '--max-calls', '300', '--max-rows', '100000', '--list', list];
  await withClient(args, async ({ client, call }) => {
    await sandbox.advance({ hours: 6, changes: 20 });
    const { value } = await call('query', {
      sql: 'SELECT item_id, product_id FROM items WHERE product_id IS NOT NULL AND is_listed LIMIT 1',
    });
    const [{ item_id: item, product_id: product } = {}] = value.rows;
    const { digest } = (await call('plan')).value;
    const inputs: Record<string, Record<string, unknown>> = {
      ...{ describe: {}, analyses: {}, query: { sql: 'FROM sites' }, product: { product }, movers: {}, watch: {} },
      ...{ run_analysis: { analysis: 'price_leaders' }, changes: { table: 'items', since: '0' } },
      ...{ why: { table: 'items', key: item, column: 'price' }, status: {}, checks: {} },
      ...{ explain_error: { code: 'quota' }, plan: {}, sync: { digest } },
    };
    const { tools } = await client.listTools();
    for (const { name } of tools) {
      const { isError, texts } = await call(name, inputs[name]);
      expect([name, isError, isError ? texts : []]).toEqual([name, false, []]);
    }
    expect(tools.map(({ name }) => name).sort()).toEqual(Object.keys(inputs).sort());
  });
});

test('no answer contains the API key', () =>
  withClient([], async ({ call }) => {
    const answers = [await call('plan'), await call('status'), await call('query', { sql: `SELECT '${key}' AS k` })];
    expect(JSON.stringify(answers)).not.toContain(key);
  }));
