import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { PART } from '../../src/run/derive/part-task.js';
import { code } from '../../src/sql/sql.js';
import { FolderExchange } from '../../src/workers/exchange.js';
import { SparkWorkers } from '../../src/workers/spark.js';
import { makeFolder } from '../journal/folder.js';
import { testIo } from '../run/world.js';
import { stubEngine } from './cluster.js';

test('a task whose files are still being sent when its run ends is never begun, and is waited for', async () => {
  const folder = await makeFolder();
  const notes = path.join(folder, 'notes');
  const { spark } = stubEngine('--note', notes);
  let isSent = false;
  class SlowExchange extends FolderExchange {
    override async put() {
      await wait(300);
      isSent = true;
      return [];
    }
  }
  const openExchange = () => new SlowExchange(folder, folder);
  const world = { io: testIo, stop: new AbortController().signal, memory: '200MB', openExchange };
  const workers = new SparkWorkers({ ...spark, secrets: [] }, world);
  const task = { views: [], select: code('SELECT 1 AS part'), folder: path.join(folder, 'parts') };
  const refused = expect(workers.do(PART, task, async () => undefined)).rejects.toThrow('the run has ended');
  await workers.close();
  expect(isSent).toBe(true);
  await refused;
  expect(existsSync(notes)).toBe(false);
});

test('a run that is stopped while its cluster begins to start waits for nothing, and starts nothing', async () => {
  const folder = await makeFolder();
  const notes = path.join(folder, 'notes');
  const { spark } = stubEngine('--play', 'late', '--note', notes);
  const stop = new AbortController();
  const openExchange = () => new FolderExchange(folder, folder);
  const world = { io: testIo, stop: stop.signal, memory: '200MB', openExchange };
  const workers = new SparkWorkers({ ...spark, secrets: [] }, world);
  const task = { views: [], select: code('SELECT 1 AS part'), folder: path.join(folder, 'parts') };
  const asked = workers.do(PART, task, async () => undefined);
  stop.abort(new Error('the user stopped it'));
  await expect(asked).rejects.toThrow('the user stopped it');
  await workers.close();
  expect(existsSync(notes)).toBe(false);
});
