import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { ApiClient, Query } from '../../src/api/client.js';
import { type ErrorCode, PricelakeError } from '../../src/io/errors.js';
import type { Landing } from '../../src/journal/landings.js';
import type { BrokenExport } from '../../src/journal/memory.js';
import type { RunEntry } from '../../src/journal/run-entry.js';
import { ExportGate } from '../../src/plan/export-gate.js';
import type { Shard } from '../../src/plan/plan-shards.js';
import {
  exportShard,
  listEndedSegments,
  listSegments,
  type SegmentTyping,
  type ShardProgress,
  type ShardSegment,
} from '../../src/source/export-shard.js';
import { createFakeIo } from '../api/fake-io.js';
import { fakeMemory } from './fake-memory.js';
import { allowRows, lastEntry, listEntries, openLanding } from './landing.js';

const HOUR = 3_600_000;
const ROWS = '{"id":1}\n{"id":2}\n{"id":3}\n';
const shard: Shard = { name: 'site-7', dataset: undefined, status: 'active', site: 7n, rows: 3n };

type Answer =
  | { rows?: string; body?: Buffer[]; headers?: Record<string, string>; breaks?: boolean | PricelakeError }
  | PricelakeError;

/** A client without a network. `answers` are the answers to /export; the last one repeats. */
function fakeExports(...answers: [Answer, ...Answer[]]) {
  const asked: Query[] = [];
  async function* send(body: Buffer[], breaks: boolean | PricelakeError) {
    yield* body;
    if (breaks instanceof PricelakeError) throw breaks;
    if (breaks) throw new PricelakeError('unavailable', 'broke off', { midStream: true }, { cause: 'reset' });
  }
  const client = {
    async stream(_path: string, query: Query) {
      asked.push(query);
      const answer = answers[Math.min(asked.length, answers.length) - 1] as Answer;
      if (answer instanceof PricelakeError) throw answer;
      const { rows = '3', body = [Buffer.from(ROWS)], headers = {}, breaks = false } = answer;
      return { body: send(body, breaks), headers: { 'x-export-rows': rows, ...headers } };
    },
    calls: () => asked.length,
  };
  return { client: client as unknown as ApiClient, asked };
}

interface Setup {
  landing: Landing;
  /** Default: the shard of website 7. */
  asked?: Shard;
  broken?: BrokenExport;
  /** Remaining export rows in the month. */
  left?: number;
  /** False if the plan shows no usage. */
  isCounted?: boolean;
}

/** Lands the shard, and returns what happened. */
async function land(client: ApiClient, { landing, asked = shard, broken, left, isCounted = true }: Setup) {
  const io = createFakeIo();
  const { memory, noted, forgotten } = fakeMemory(broken, io.now);
  const happened: string[] = [];
  const told: ShardProgress[] = [];
  const segments: ShardSegment[] = [];
  const typing: SegmentTyping = {
    addItems: (segment, { mayBecomeVoid }) => {
      segments.push(segment);
      const may = mayBecomeVoid ? ', may become void' : '';
      happened.push(`${path.basename(segment.path)}: ${segment.rows} rows${may}`);
    },
    forget: (paths) => void happened.push(...paths.map((one) => `void ${path.basename(one)}`)),
    whenRoom: async () => void happened.push('room'),
  };
  const onProgress = (progress: ShardProgress) => void told.push({ ...progress });
  const gate = new ExportGate(allowRows(left, isCounted), io, memory);
  const error = await exportShard(
    client,
    landing,
    { shard: asked, format: 'ndjson', gate, onProgress },
    typing,
    io,
  ).then(
    () => undefined,
    (reason: unknown) => reason as PricelakeError,
  );
  return { error, io, gate, happened, segments, told, noted, forgotten };
}

const listExports = async ({ folder }: Landing) =>
  (await readdir(folder)).filter((name) => name.startsWith('export-')).sort();

const brokenAt = (runs: number, ago: number): BrokenExport => ({
  name: shard.name,
  runs,
  rows: 9n,
  at: new Date(createFakeIo().now().getTime() - ago),
  reason: 'broke off',
});

test("a complete export is journaled from its beginning to its end, and isn't remembered as interrupted", async () => {
  const landing = await openLanding();
  const { client, asked } = fakeExports({});
  const { error, io, happened, told, noted, forgotten } = await land(client, { landing });
  expect([error, noted, forgotten, asked]).toEqual([
    undefined,
    [],
    ['site-7'],
    [{ format: 'ndjson', status: 'active', site: 7n }],
  ]);
  const place = { shard: 'site-7', attempt: 1 };
  const begun = { readAt: io.now().toISOString(), announced: 3n, overage: false, blocks: 0n, calls: 1 };
  expect(lastEntry(landing, 'export.begin')).toEqual({ type: 'export.begin', ...place, ...begun });
  expect(lastEntry(landing, 'export.segment')).toMatchObject({ ...place, rows: 3, bytes: ROWS.length });
  const done = { announced: 3n, landed: 3n, calls: 1 };
  expect(lastEntry(landing, 'export.done')).toEqual({ type: 'export.done', ...place, ...done });
  expect(happened).toEqual(['room', 'export-site-7-1-00001.ndjson: 3 rows']);
  expect(told).toEqual([{ rows: 3n, bytes: ROWS.length }]);
  expect(listSegments(landing, shard)).toMatchObject([{ rows: 3, readAt: io.now().toISOString() }]);
  expect(io.events).toMatchObject([
    { level: 'debug', event: 'landed', facts: { what: 'segment', file: 'export-site-7-1-00001.ndjson', rows: 3 } },
    { level: 'debug', event: 'landed', facts: { what: 'export', shard: 'site-7', rows: 3n, bytes: ROWS.length } },
  ]);
});

test('an interrupted export is requested again after growing delays, then remembered with its announced rows', async () => {
  const landing = await openLanding();
  const { client, asked } = fakeExports({ breaks: true });
  const { error, io, happened, noted, forgotten } = await land(client, { landing });
  expect(asked).toHaveLength(3);
  expect(io.slept).toEqual([2000, 4000]);
  expect(noted).toEqual([{ name: 'site-7', rows: 9n, reason: 'broke off' }]);
  expect(forgotten).toEqual([]);
  expect(error).toMatchObject({
    code: 'unavailable',
    message: 'broke off',
    facts: { midStream: true, nextRunAt: io.now() },
    cause: 'reset',
  });
  expect(io.events.filter(({ level }) => level === 'warn')).toMatchObject([
    { event: 'export.again', facts: { shard: 'site-7', attempt: 1, reason: 'broke off' } },
    { event: 'export.again', facts: { attempt: 2 } },
    { event: 'export.broken', facts: { shard: 'site-7', runs: 1, rows: 9n, nextRunAt: io.now() } },
  ]);
  // Its segments were small, so none was typed yet.
  expect(happened).toEqual(['room', 'room', 'room']);
  expect(listEntries(landing, 'export.begin').map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
});

test('an export that was interrupted in an earlier run gets one attempt once its delay is over', async () => {
  const { client, asked } = fakeExports({ breaks: true });
  const { error, io } = await land(client, { landing: await openLanding(), broken: brokenAt(2, HOUR) });
  expect([asked.length, io.slept]).toEqual([1, []]);
  expect(error?.facts.nextRunAt).toEqual(new Date(io.now().getTime() + 2 * HOUR));
});

test("an export whose delay isn't over isn't requested", async () => {
  const { client, asked } = fakeExports({});
  const { error, noted } = await land(client, { landing: await openLanding(), broken: brokenAt(2, HOUR - 1) });
  expect([asked, noted]).toEqual([[], []]);
  expect(error).toMatchObject({ code: 'snapshot_incomplete', facts: { brokenRuns: 2 } });
});

test("an answer that isn't an export is remembered, and isn't requested again", async () => {
  const refusal = new PricelakeError('contract', 'no export');
  const { client, asked } = fakeExports(refusal);
  const { error, noted } = await land(client, { landing: await openLanding() });
  expect(asked).toHaveLength(1);
  expect(error).toBe(refusal);
  expect(noted).toEqual([{ name: 'site-7', rows: 3n, reason: 'no export' }]);
});

test.each<ErrorCode>(['stopped', 'deadline', 'disk_full'])(
  "a run that ends with %s doesn't count against the export, even after it was interrupted",
  async (code) => {
    const end = new PricelakeError(code, 'the run ends');
    const { error, noted } = await land(fakeExports({ breaks: true }, end).client, { landing: await openLanding() });
    expect([error, noted]).toEqual([end, []]);
  },
);

test("an export that is refused without a loss isn't remembered, and its rows are free for others", async () => {
  const refusal = new PricelakeError('plan_refuses', 'no exports');
  const { error, gate, noted } = await land(fakeExports(refusal).client, { landing: await openLanding(), left: 5 });
  expect([error, noted]).toEqual([refusal, []]);
  gate.require(5n);
});

test('an export that was requested but not answered uses up its rows', async () => {
  const silence = new PricelakeError('unavailable', 'no answer', { midStream: true });
  const landing = await openLanding();
  const { error, gate, noted } = await land(fakeExports(silence).client, { landing, left: 5 });
  expect(error?.code).toBe('budget');
  // The first attempt was requested; a second one would have exceeded the remaining rows.
  expect(noted).toEqual([{ name: 'site-7', rows: 3n, reason: error?.message }]);
  gate.require(2n);
  expect(() => gate.require(3n)).toThrow();
});

test('a segment of full size is typed while more arrive, and becomes void if its export is interrupted', async () => {
  const line = Buffer.from(`${'x'.repeat(1024 * 1024 - 1)}\n`);
  const body = Array.from({ length: 129 }, () => line);
  const landing = await openLanding();
  const whole = await land(fakeExports({ rows: '129', body }).client, { landing });
  expect(whole.happened).toEqual([
    'room',
    'export-site-7-1-00001.ndjson: 128 rows, may become void',
    'room',
    'export-site-7-1-00002.ndjson: 1 rows',
  ]);
  expect(whole.told.at(-1)).toEqual({ rows: 129n, bytes: 129 * line.length });
  const broken = await land(fakeExports({ rows: '130', body, breaks: true }).client, {
    landing,
    broken: brokenAt(1, 1),
  });
  expect(broken.happened).toEqual([
    'room',
    'export-site-7-2-00001.ndjson: 128 rows, may become void',
    'room',
    'void export-site-7-2-00001.ndjson',
  ]);
});

test("a truncated export is typed and kept, isn't a copy, and reports when to continue", async () => {
  const landing = await openLanding();
  const headers = { 'x-export-truncated': 'true', 'x-export-matching': '900' };
  const cut = await land(fakeExports({ headers }).client, { landing, left: 900 });
  expect(cut.error).toMatchObject({
    code: 'quota',
    message: '/export: the service truncated the export at the monthly limit: 3 of 900 rows',
    facts: {
      limit: 'exportRowsPerMonth',
      cut: true,
      nextRunAt: new Date('2026-12-01T00:00:00Z'),
      hint: expect.stringContaining('Wait until next month'),
    },
  });
  expect([cut.noted, cut.forgotten]).toEqual([[], []]);
  expect(cut.happened).toEqual(['room', 'export-site-7-1-00001.ndjson: 3 rows']);
  const entry = { shard: 'site-7', attempt: 1, announced: 3n, landed: 3n, calls: 1, matching: '900' };
  expect(lastEntry(landing, 'export.cut')).toEqual({ type: 'export.cut', ...entry });
  expect(lastEntry(landing, 'export.done')).toBeUndefined();
  // The next attempt starts over, and keeps the rows that were paid for.
  await land(fakeExports({ breaks: true }, {}).client, { landing });
  expect(await listExports(landing)).toEqual(['export-site-7-1-00001.ndjson', 'export-site-7-3-00001.ndjson']);
  const ended = ['export-site-7-1-00001.ndjson', 'export-site-7-3-00001.ndjson'];
  expect(listEndedSegments(landing).map((one) => path.basename(one.path))).toEqual(ended);
  expect(listSegments(landing, shard)?.map((one) => path.basename(one.path))).toEqual(['export-site-7-3-00001.ndjson']);
});

test('an attempt removes the files of earlier interrupted attempts, but no files of other exports', async () => {
  const landing = await openLanding();
  const cut = { type: 'export.cut', shard: 'site-77', attempt: 1, announced: 1n, landed: 1n, matching: '9', calls: 1 };
  await landing.journal.append(cut as RunEntry);
  for (const name of ['export-site-7-1-00001.ndjson', 'export-site-77-1-1.ndjson', 'page-site-7.json']) {
    await writeFile(path.join(landing.folder, name), '');
  }
  await land(fakeExports(new PricelakeError('unauthorized', 'no')).client, { landing });
  expect(await listExports(landing)).toEqual(['export-site-77-1-1.ndjson']);
  expect(await readdir(landing.folder)).toContain('page-site-7.json');
});

test('an export that is too large for the disk leaves no file', async () => {
  const landing = await openLanding();
  const full = new PricelakeError('disk_full', 'full');
  const { error } = await land(fakeExports({ breaks: full }).client, { landing });
  expect([error, await listExports(landing)]).toEqual([full, []]);
  expect(listEntries(landing, 'export.begin')).toHaveLength(1);
});

test('a truncated export reports no time to continue if the service counts no usage', async () => {
  const headers = { 'x-export-truncated': 'true' };
  const { error } = await land(fakeExports({ headers }).client, { landing: await openLanding(), isCounted: false });
  expect(error?.message).toBe('/export: the service truncated the export at the monthly limit: 3 of more rows');
  expect(error?.facts).not.toHaveProperty('nextRunAt');
});

test.each([
  ['site-7', 7n, true],
  ['all', null, false],
])('the shard %s determines whether its segments are from one website', async (name, site, isOfOneSite) => {
  const asked: Shard = { name, dataset: undefined, status: 'all', site, rows: 3n };
  const landing = await openLanding();
  await landing.journal.append({ type: 'shards', shards: [asked], reason: 'one', calls: 0 });
  const cut = { 'x-export-truncated': 'true', 'x-export-matching': '900' };
  const { client } = fakeExports({ headers: cut }, {});
  const added = [
    ...(await land(client, { landing, asked })).segments,
    ...(await land(client, { landing, asked })).segments,
  ];
  expect(listEndedSegments(landing)).toEqual(added);
  expect(added.map((segment) => segment.isOfOneSite)).toEqual([isOfOneSite, isOfOneSite]);
});
