/** Logs with bytes inserted, removed or replaced: they are read as written, or refused with their file name. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PricelakeError } from '../../src/io/errors.js';
import { Journal, readJournal } from '../../src/journal/journal.js';
import { type IdleRun, type LakeMemory, openMemory, readMemory } from '../../src/journal/memory.js';
import { openLake } from '../../src/lake/lake.js';
import { readTable } from '../../src/lake/read.js';
import { Database } from '../../src/sql/connection.js';
import type { Lake } from '../../src/tables/layout.js';
import { LIST, TO_END } from '../journal/list-fold.js';
import { RUNS_FACTOR } from '../property-runs.js';
import { ITEM, select, write } from './items.js';

const RUNS = { seed: 2026, numRuns: 300 * RUNS_FACTOR };

let folder: string;
let lake: Lake;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'pricelake-any-log-'));
  lake = await openLake(path.join(folder, 'lake'), { create: true });
  const db = await Database.open();
  for (const cursor of [1n, 2n]) await write(db, lake, { select: select('items', ITEM), applied: { cursor } });
  await db.close();
});
afterAll(() => rm(folder, { recursive: true }));

/** Puts bytes in the place of others. */
const edits = fc.array(
  fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), gone: fc.nat(8), put: fc.uint8Array({ maxLength: 8 }) }),
  { minLength: 1, maxLength: 3 },
);

/** Reads a file after each edit. It reads as before, or as `isAllowed` says, or is refused by an error that names it. */
async function readEdited<T>(file: string, read: () => Promise<T>, isAllowed: (value: T, whole: T) => boolean) {
  const bytes = await readFile(file);
  const whole = await read();
  await fc.assert(
    fc.asyncProperty(edits, async (all) => {
      let edited = bytes;
      for (const { at, gone, put } of all) {
        const from = Math.floor(at * edited.length);
        edited = Buffer.concat([edited.subarray(0, from), put, edited.subarray(from + gone)]);
      }
      await writeFile(file, edited);
      const error = await read().then(
        (value) => (isAllowed(value, whole) ? undefined : value),
        (thrown: unknown) => thrown,
      );
      if (error === undefined) return;
      expect(error, inspect(error)).toBeInstanceOf(PricelakeError);
      expect(error).toMatchObject({ code: 'lake_invalid', message: expect.stringContaining(path.basename(file)) });
    }),
    RUNS,
  );
  await writeFile(file, bytes);
}

test('an edited entry of a transaction log is read as written or refused with its file name', async () => {
  const file = path.join(lake.root, 'items', '_delta_log', '00000000000000000001.json');
  await readEdited(
    file,
    () => readTable(lake, 'items'),
    (table, whole) => inspect(table, { depth: 9 }) === inspect(whole, { depth: 9 }),
  );
});

test('an edited journal is read as written, possibly without a torn tail, or refused with its file name', async () => {
  const file = path.join(folder, 'journal.ndjson');
  const journal = await Journal.open(file, LIST);
  await journal.append(...TO_END);
  await journal.close();
  await readEdited(
    file,
    () => readJournal(file, LIST),
    (entries, whole) => inspect(entries) === inspect(whole.slice(0, entries.length)),
  );
});

test('an edited memory is read as written, except lines that a run restores, or refused with its file name', async () => {
  const file = path.join(lake.root, '_pricelake', 'memory.ndjson');
  const at = '2026-11-20T12:00:00.000Z';
  const memory = await openMemory(lake, { log: () => {} });
  const written: LakeMemory[] = [memory.state];
  for (const entry of [
    { type: 'idle', row: { run_number: 1n, run_id: 'first', mode: 'feed' } as IdleRun },
    { type: 'counts', text: '{}' },
    { type: 'idle', row: { run_number: 2n, run_id: 'second', mode: 'feed' } as IdleRun },
    { type: 'plan', seenAt: at, text: '{}' },
    { type: 'brought', source: 'histories', ids: '7,8' },
    { type: 'pages', longest: 40 },
    { type: 'broken', name: 'a', runs: 2, rows: 3n, at, reason: 'cut' },
  ] as const) {
    await memory.append(entry);
    written.push(memory.state);
  }
  await memory.close();
  const show = (value: object) => inspect(value, { depth: 9 });
  const keep = ({ idleRuns, brought, broken }: LakeMemory) => show({ idleRuns, brought, broken });
  await readEdited(
    file,
    () => readMemory(lake),
    (read) => written.some((one) => (read.damaged.length > 0 ? keep(one) === keep(read) : show(one) === show(read))),
  );
});
