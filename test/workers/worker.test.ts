/** The process that does a task on a machine of a cluster: `pricelake __work`. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { PART } from '../../src/run/derive/part-task.js';
import { code } from '../../src/sql/sql.js';
import { makeFolder } from '../journal/folder.js';
import { MAIN, writeTask } from './cluster.js';

const children: ChildProcessWithoutNullStreams[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

function startWorker() {
  const child = spawn(process.execPath, [MAIN, '__work']);
  children.push(child);
  return child;
}

const divide = async (select: string) => {
  const root = await makeFolder();
  const folder = path.join(root, 'parts');
  await mkdir(folder);
  return { line: await writeTask(PART, { views: [], select: code(select), folder }, root) };
};

test('does a task and ends, though its stdin stays open', async () => {
  const { line } = await divide('SELECT 7 AS product_id, 3 AS part');
  const worker = startWorker();
  worker.stdin.write(`${line}\n`);
  const answer = JSON.parse(await text(worker.stdout)) as { result: object[]; usage: object };
  expect(answer.result).toEqual([
    { part: 3, rows: '1', path: expect.stringMatching(/^parts\/.*\.parquet$/), bytes: expect.any(Number) },
  ]);
  expect(answer.usage).toMatchObject({ cpuSeconds: expect.any(Number), maxBytes: expect.any(Number) });
});

test('reads a task whole that holds what Unicode calls the end of a line', async () => {
  const { line } = await divide("SELECT 7 AS product_id, 3 AS part, 'one\u2028two\u2029three' AS title");
  expect(line).toContain('\u2028');
  const worker = startWorker();
  worker.stdin.write(`${line}\n`);
  expect(JSON.parse(await text(worker.stdout))).toMatchObject({
    result: [{ part: 3, path: expect.stringMatching(/^parts\/.*\.parquet$/) }],
  });
});

test('ends in the middle of a task that nobody waits for any more', async () => {
  const { line } = await divide('SELECT count(*) AS n, 1 AS part FROM range(1000000000000000) AS a(i) WHERE i % 7 = 8');
  const worker = startWorker();
  worker.stdin.write(`${line}\n`);
  await wait(1500);
  expect(worker.exitCode).toBeNull();
  worker.stdin.end();
  expect((await once(worker, 'exit'))[0]).toBe(1);
});

test('tells an error that would come again, and leaves others to Spark', async () => {
  const other = startWorker();
  const { line } = await divide('SELECT 1 AS part');
  other.stdin.write(`${line.replace(/"version":"[^"]*"/, '"version":"0.0.1"')}\n`);
  expect(JSON.parse(await text(other.stdout))).toMatchObject({
    error: { code: 'config', message: expect.stringContaining('the run is of 0.0.1') },
  });
  const broken = startWorker();
  broken.stdin.write('{"kind":"no"}\n');
  expect((await once(broken, 'exit'))[0]).toBe(1);
});

test('tells that DuckDB needs more memory, which it would anywhere', async () => {
  const worker = startWorker();
  worker.stdin.write(`${(await divide('SELECT 1 AS part, list(i) AS ids FROM range(100000000) AS a(i)')).line}\n`);
  expect(JSON.parse(await text(worker.stdout))).toMatchObject({
    error: { code: 'out_of_memory', hint: expect.stringContaining('Raise lake.memory') },
  });
});
