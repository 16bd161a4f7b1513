import { readdirSync, symlinkSync } from 'node:fs';
import { cp, readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { exitCodeOf } from '../../src/cli/exit-codes.js';
import type { PricelakeError } from '../../src/io/errors.js';
import { explainSystemFault } from '../../src/lake/system-faults.js';
import { Database } from '../../src/sql/connection.js';
import { syncWithWings } from '../../src/wings/index.js';
import { failure } from '../failure.js';
import { disk, mountFullDisk } from './full-disk.js';
import { makePipeline, openWorld, readItems, readTruth, testIo, type World } from './world.js';

let unmount: () => void;
let world: World;
/** A lake after its first run; the service has changed since. */
let before: string;
let published: Map<string, string[]>;
let truth: Map<string, string[]>;

beforeAll(async () => {
  unmount = mountFullDisk();
  world = await openWorld({ items: 60, sites: 2 });
  before = path.join(world.folder, 'before');
  await syncWithWings(makePipeline(world.sandbox, before), testIo);
  published = await readItems(before);
  await world.sandbox.advance({ hours: 12, changes: 40 });
  truth = await readTruth(world.sandbox);
});
afterAll(async () => {
  await world.close();
  unmount();
});
afterEach(() => {
  disk.isFull = () => false;
});

async function syncError(lakePath: string, io = testIo): Promise<PricelakeError> {
  return failure(syncWithWings(makePipeline(world.sandbox, lakePath), io));
}

/** Expects that the run failed because the disk was full, and that the lake is unchanged. */
async function expectFull(lakePath: string, error: PricelakeError, items: Map<string, string[]>): Promise<void> {
  expect([error.code, exitCodeOf(error)]).toEqual(['disk_full', 1]);
  expect(error.message).toMatch(/no space left on the disk/);
  disk.isFull = () => false;
  if (items.size > 0) expect(await readItems(lakePath)).toEqual(items);
  else expect((await readdir(lakePath)).filter((name) => name !== '_pricelake')).toEqual([]);
}

/** Expects the next run to succeed. @param failed the number of failed runs, each of which may have had one request in progress */
async function expectRecovery(lakePath: string, failed = 1): Promise<void> {
  await syncWithWings(makePipeline(world.sandbox, lakePath), testIo);
  expect(await readItems(lakePath)).toEqual(truth);
  const paid = world.requests.filter((request) => /^\/(changes\?|items)/.test(request));
  expect(paid.length - new Set(paid).size, paid.join(' ')).toBeLessThanOrEqual(failed);
}

let lakes = 0;

describe('a full disk', () => {
  test('while the journal or the export is written ends a first run, and the next run copies everything', async () => {
    const lakePath = path.join(world.folder, `lake-${++lakes}`);
    world.requests.length = 0;
    for (const full of [/journal\.ndjson$/, /export-all-1-\d+\.ndjson$/]) {
      disk.refused.length = 0;
      disk.isFull = (file) => full.test(file);
      const error = await syncError(lakePath);
      expect(disk.refused).not.toEqual([]);
      await expectFull(lakePath, error, new Map());
    }
    await expectRecovery(lakePath, 2);
  });

  test('at any step ends a run without changing the lake, and the next run continues and pays for nothing twice', async () => {
    const lakePath = path.join(world.folder, `lake-${++lakes}`);
    await cp(before, lakePath, { recursive: true });
    world.requests.length = 0;
    // A page of changes, items read completely, a staged file that is moved into its table, an entry of a log, lake.json.
    const steps = [
      /feed\.ndjson#sync$/,
      /hydrate-\d+\.ndjson$/,
      /\/items\/[^/]*\.parquet$/,
      /tmp\/[^/]*\.json$/,
      /lake\.json$/,
    ];
    for (const full of steps) {
      disk.refused.length = 0;
      disk.isFull = (file) => file.startsWith(lakePath) && full.test(file);
      const error = await syncError(lakePath);
      expect(disk.refused, full.source).not.toEqual([]);
      // lake.json is written last, when the tables are already committed.
      await expectFull(lakePath, error, /lake/.test(full.source) ? truth : published);
    }
    // Only the requests in progress when the disk was full are repeated: a page of changes, and items read completely.
    await expectRecovery(lakePath, 2);
  });

  test('while DuckDB types the export also ends the run', async () => {
    const lakePath = path.join(world.folder, `lake-${++lakes}`);
    world.requests.length = 0;
    const linked: string[] = [];
    const io: typeof testIo = {
      ...testIo,
      log: (_level, event, facts = {}) => {
        // Before the export arrives, the file for its typed rows is linked to a full device.
        if (event === 'landed' && facts.what === 'watermark') linked.push(linkTypedFile(lakePath));
      },
    };
    const error = await syncError(lakePath, io);
    expect(linked).toHaveLength(1);
    await expectFull(lakePath, error, new Map());
    await expectRecovery(lakePath);
    expect(world.requests.filter((request) => request.startsWith('/export'))).toHaveLength(1);
  });

  test('is recognized by the messages of DuckDB, including missing space to spill', async () => {
    const db = await Database.open({ memoryLimit: '20MB', tempDirectory: path.join(world.folder, 'spill') });
    try {
      const explain = (sql: string) => explainSystemFault('lake', () => db.run(sql));
      const copy = "COPY (FROM range(1000)) TO '/dev/full' (FORMAT parquet)";
      await expect(explain(copy)).rejects.toMatchObject({ code: 'disk_full' });
      await db.run("SET max_temp_directory_size = '1MB'");
      const sort = 'CREATE TABLE t AS SELECT md5(CAST(range AS VARCHAR)) AS x FROM range(1000000) ORDER BY x';
      await expect(explain(sort)).rejects.toMatchObject({ code: 'disk_full' });
      await expect(explain('SELECT 1 / oops')).rejects.not.toHaveProperty('code', 'disk_full');
    } finally {
      await db.close();
    }
  });
});

/** Synchronous, so that the run can't overtake it. */
function linkTypedFile(lakePath: string): string {
  const work = path.join(lakePath, '_pricelake', 'work');
  const [runId = ''] = readdirSync(work);
  const file = path.join(work, runId, 'export-all-1-00001.ndjson.parquet');
  symlinkSync('/dev/full', file);
  return file;
}
