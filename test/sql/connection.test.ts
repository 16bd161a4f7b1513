import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Database } from '../../src/sql/connection.js';

const ENDLESS = 'SELECT count(*) FROM range(1000000000000) WHERE hash(range) = 1';
let db: Database;
beforeEach(async () => {
  db = await Database.open({ threads: 2, sessions: 3 });
});
afterEach(() => db.close());

/** Runs works that each note when they are under way; gives how many were at once. */
async function countAtOnce(works: number, run: (work: () => Promise<void>) => Promise<void>): Promise<number> {
  let [running, most] = [0, 0];
  const work = async () => {
    running += 1;
    most = Math.max(most, running);
    await wait(20);
    running -= 1;
  };
  await Promise.all(Array.from({ length: works }, () => run(work)));
  return most;
}

const threads = async () => (await db.row("SELECT current_setting('threads') AS n"))?.n;

test('two statements are at work at once, and the others wait for a session', async () => {
  expect(await countAtOnce(6, (work) => db.withSession(work))).toBe(2);
  await using(await Database.open(), async (one) => {
    expect(await countAtOnce(3, (work) => one.withSession(work))).toBe(1);
  });
});

test('in lanes, two works are at once, on a thread less, and a statement beside them', async () => {
  const seen = new Set<unknown>();
  const atOnce = await countAtOnce(5, (work) =>
    db.inLane(async () => {
      seen.add(await threads());
      await work();
    }),
  );
  expect([atOnce, [...seen], await threads()]).toEqual([2, [1n], 2n]);
  await using(await Database.open({ threads: 1, sessions: 3 }), async (one) => {
    expect(await countAtOnce(3, (work) => one.inLane(work))).toBe(1);
  });
});

test('a work in a lane that fails gives its thread back', async () => {
  await expect(db.inLane(() => db.run('SELECT nothing'))).rejects.toThrow('nothing');
  expect(await threads()).toBe(2n);
});

test('all sessions see what one makes', async () => {
  await db.run('CREATE TABLE items AS SELECT 1 AS id');
  const ids = await Promise.all([1, 2, 3, 4].map(() => db.row('FROM items')));
  expect(ids).toEqual([1, 2, 3, 4].map(() => ({ id: 1 })));
});

test('closing ends the statements that run and those that wait, and no more begin', async () => {
  const statements = [db.run(ENDLESS), db.rows(ENDLESS), db.run(`${ENDLESS}; ${ENDLESS}`), db.run('SELECT 1')];
  const failed = Promise.allSettled(statements);
  await db.close();
  const reasons = (await failed).map((result) => (result.status === 'rejected' ? String(result.reason) : 'ended'));
  const interrupted = expect.stringMatching(/Interrupted|the database is closed/);
  expect(reasons).toEqual(statements.map(() => interrupted));
  await expect(db.run('SELECT 1')).rejects.toThrow('the database is closed');
  await db.close();
});

test('a statement that runs out of memory runs again under the highest limit, beside others that did', async () => {
  const lists =
    'SELECT max(len(v)) AS n FROM (SELECT list(md5(CAST(range AS VARCHAR))) AS v FROM range(400000) GROUP BY range % 7)';
  await using(await Database.open({ memoryLimit: '20MB', sessions: 2 }), async (one) => {
    await expect(one.rows(lists)).rejects.toThrow('Out of Memory Error');
  });
  await using(await Database.open({ memoryLimit: '20MB', mostMemory: '500MiB', sessions: 2 }), async (one) => {
    expect(await Promise.all([one.row(lists), one.row(lists)])).toEqual([{ n: 57_143n }, { n: 57_143n }]);
    await one.run(`CREATE TABLE longest AS ${lists}`);
    expect(await one.row("SELECT n, current_setting('memory_limit') AS memory FROM longest")).toEqual({
      n: 57_143n,
      memory: '500.0 MiB',
    });
    // Only a lack of memory is a reason to run a statement again.
    await expect(one.run("SELECT error('no')")).rejects.toThrow('no');
  });
});

test('footers that are not kept any more are kept by no session', async () => {
  const keeps = () =>
    Promise.all([1, 2, 3].map(() => db.row("SELECT current_setting('parquet_metadata_cache') AS kept")));
  expect(await keeps()).toEqual([{ kept: true }, { kept: true }, { kept: true }]);
  await db.forgetFooters();
  expect(await keeps()).toEqual([{ kept: false }, { kept: false }, { kept: false }]);
});

async function using(one: Database, work: (one: Database) => Promise<void>): Promise<void> {
  try {
    await work(one);
  } finally {
    await one.close();
  }
}
