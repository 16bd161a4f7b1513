import { readdir, readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { basename } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ApiClient } from '../../src/api/client.js';
import type { Progress } from '../../src/io/io.js';
import type { Landing } from '../../src/journal/landings.js';
import { ExportGate } from '../../src/plan/export-gate.js';
import type { Shard } from '../../src/plan/plan-shards.js';
import type { SegmentTyping } from '../../src/source/export-shard.js';
import type { ItemFile } from '../../src/source/item-files.js';
import { landSnapshot } from '../../src/source/snapshot.js';
import { createFakeIo } from '../api/fake-io.js';
import { type LocalService, startService } from '../api/local-service.js';
import { fakeMemory } from './fake-memory.js';
import { allowRows, lastEntry, listEntries, openLanding, reopenLanding } from './landing.js';

const ROWS = Array.from({ length: 50 }, (_, id) => `{"id":${id}}\n`).join('');

interface Export {
  rows?: string | undefined;
  body?: string;
  headers?: Record<string, string>;
  /** Ends the connection after the body, instead of the response. */
  cut?: boolean;
}

/** A service whose answers to /export are `exports`; the last one repeats. `/items` counts no items. */
function startExport(...exports: [Export, ...Export[]]): Promise<LocalService> {
  let asked = 0;
  return startService((request, response) => {
    if (!request.url?.includes('/items')) {
      sendExport(response, exports[Math.min(asked++, exports.length - 1)] as Export);
      return;
    }
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ content: [], page: 0, size: 1, totalElements: 0, totalPages: 0 }));
  });
}

function sendExport(response: ServerResponse, { rows = '50', body = ROWS, headers = {}, cut = false }: Export): void {
  const count = rows === '' ? {} : { 'x-export-rows': rows };
  response.writeHead(200, { 'content-type': 'application/x-ndjson', ...count, ...headers });
  if (!cut) return void response.end(body);
  response.write(body);
  setTimeout(() => response.destroy(), 20);
}

/** `left` is the number of remaining export rows in the month. */
async function land(service: LocalService, landing: Landing, left?: number): Promise<ItemFile[]> {
  const segments: ItemFile[] = [];
  const typing: SegmentTyping = {
    addItems: (segment) => void segments.push(segment),
    forget: (paths) => expect(paths).toEqual([]),
    whenRoom: async () => {},
  };
  const options = {
    shards: [{ name: 'all', dataset: undefined, status: 'all' as const, site: null, rows: 50n }],
    format: 'ndjson' as const,
    gate: new ExportGate(allowRows(left), service.io, fakeMemory().memory),
  };
  await landSnapshot([{ dataset: undefined, client: service.client }], landing, options, typing, service.io);
  return segments;
}

const countExports = ({ urls }: LocalService) => urls.filter((url) => url.startsWith('/api/v1/export')).length;

const shardOf = (name: string, dataset?: bigint): Shard => ({ name, dataset, status: 'all', site: null, rows: 2n });

/** Lands shards with two rows each, and returns the requested datasets, the progress and the segments. */
async function landShards(landing: Landing, shards: Shard[], options: { left?: number; datasets?: bigint[] } = {}) {
  const io = createFakeIo();
  const told: Progress[] = [];
  const handed: string[] = [];
  const asked: string[] = [];
  async function* send() {
    yield Buffer.from('{"id":1}\n{"id":2}\n');
  }
  const clientOf = (dataset: bigint | undefined) => {
    const stream = async () => {
      asked.push(String(dataset));
      return { body: send(), headers: { 'x-export-rows': '2' } };
    };
    return { stream, calls: () => asked.length } as unknown as ApiClient;
  };
  const parts = (options.datasets ?? [undefined]).map((dataset) => ({ dataset, client: clientOf(dataset) }));
  const typing: SegmentTyping = {
    addItems: ({ path }, { mayBecomeVoid }) => void handed.push(`${basename(path)} ${mayBecomeVoid}`),
    forget: () => {},
    whenRoom: async () => {},
  };
  const gate = new ExportGate(allowRows(options.left), io, fakeMemory().memory);
  await landSnapshot(parts, landing, { shards, format: 'ndjson', gate }, typing, {
    ...io,
    progress: (progress) => void told.push(progress),
  });
  return { told, asked, handed };
}

describe('a complete copy', () => {
  test('in shards reports the progress of the whole copy, including rows that landed before', async () => {
    const landing = await openLanding();
    const [a, b] = [shardOf('a'), shardOf('b')];
    await landShards(landing, [a]);
    const { told, asked, handed } = await landShards(landing, [a, b], { left: 2 });
    expect(asked).toHaveLength(1);
    expect(handed).toEqual(['export-a-1-00001.ndjson false', 'export-b-1-00001.ndjson false']);
    expect(told).toEqual([
      { step: 'land', part: 'snapshot', rows: 4n, bytes: 36, totalRows: 4n, done: false },
      { step: 'land', part: 'snapshot', rows: 4n, bytes: 36, totalRows: 4n, done: true },
    ]);
    const again = await landShards(landing, [b, a], { left: 0 });
    expect([again.asked, again.handed]).toEqual([[], handed.toReversed()]);
  });

  test("isn't begun if only a part of it may be exported", async () => {
    const landing = await openLanding();
    const shards = [shardOf('a'), shardOf('b')];
    await expect(landShards(landing, shards, { left: 3 })).rejects.toMatchObject({ code: 'budget' });
    expect(listEntries(landing, 'export.begin')).toEqual([]);
  });

  test('requests each export with the client of its dataset', async () => {
    const shards = [shardOf('dataset-6-all', 6n), shardOf('dataset-5-all', 5n)];
    const { asked } = await landShards(await openLanding(), shards, { datasets: [5n, 6n] });
    expect(asked.sort()).toEqual(['5', '6']);
    await expect(landShards(await openLanding(), [shardOf('dataset-7-all', 7n)], { datasets: [5n] })).rejects.toThrow(
      'no client for shard dataset-7-all',
    );
  });

  test('contains all items, including removed ones, and hands over its segments', async () => {
    const service = await startExport({});
    const segments = await land(service, await openLanding());
    expect(service.urls).toEqual(['/api/v1/export?format=ndjson&status=all']);
    expect(segments).toMatchObject([{ rows: 50, bytes: ROWS.length, readAt: expect.stringMatching(/^2026-/) }]);
    expect(await readFile(segments[0]?.path ?? '', 'utf8')).toBe(ROWS);
  });

  test('that has landed needs no further call, because its segments are in the journal', async () => {
    const service = await startExport({});
    const first = await land(service, await openLanding());
    const again = await land(service, await reopenLanding());
    expect(again).toEqual(first);
    expect(service.urls).toHaveLength(1);
  });

  test('whose stream was interrupted is requested again in the same run, and only the complete export counts', async () => {
    const service = await startExport({ body: ROWS.slice(0, 200), cut: true }, {});
    const landing = await openLanding();
    const segments = await land(service, landing);
    expect(segments).toMatchObject([{ rows: 50 }]);
    expect((await readdir(landing.folder)).filter((name) => name.startsWith('export-'))).toHaveLength(1);
    expect(listEntries(landing, 'export.begin')).toHaveLength(2);
    expect(await land(service, await reopenLanding())).toEqual(segments);
  });

  test('with another number of rows than announced is requested three times, then refused', async () => {
    const service = await startExport({ rows: '51' });
    await expect(land(service, await openLanding())).rejects.toMatchObject({
      code: 'snapshot_incomplete',
      message: '/export: 50 rows arrived, but X-Export-Rows announced 51',
      facts: { hint: expect.stringContaining('Nothing was published.') },
    });
    expect(countExports(service)).toBe(3);
  });

  test('without any row is complete', async () => {
    const service = await startExport({ rows: '0', body: '' });
    const landing = await openLanding();
    expect(await land(service, landing)).toEqual([]);
    expect(lastEntry(landing, 'export.done')).toMatchObject({ announced: 0n, landed: 0n });
  });

  test('beyond the quota is journaled as billed', async () => {
    const service = await startExport({ headers: { 'x-export-overage': 'true' } });
    const landing = await openLanding();
    await land(service, landing, 50);
    expect(lastEntry(landing, 'export.begin')).toMatchObject({ overage: true, blocks: 1n, announced: 50n });
    expect(lastEntry(landing, 'export.done')).toMatchObject({ landed: 50n });
    expect(service.io.events.map(({ level, event }) => [level, event])).toContainEqual([
      'warn',
      'export.overage_not_agreed',
    ]);
  });

  test("that is interrupted is paid for, and is requested again only while the month's rows suffice", async () => {
    const service = await startExport({ body: ROWS.slice(0, 200), cut: true });
    const landing = await openLanding();
    await expect(land(service, landing, 149)).rejects.toMatchObject({ code: 'budget', facts: { used: 100 } });
    expect(countExports(service)).toBe(2);
    expect(listEntries(landing, 'export.begin').map(({ announced }) => announced)).toEqual([50n, 50n]);
  });

  test.each(['', '-1', '5.0', 'many', '1e3', '9999999999999999999'])(
    "with the header X-Export-Rows: %j is refused, because a truncated export couldn't be recognized",
    async (rows) => {
      const service = await startExport({ rows });
      await expect(land(service, await openLanding())).rejects.toMatchObject({
        code: 'contract',
        message: expect.stringContaining(`X-Export-Rows is "${rows}"`),
        facts: { hint: expect.stringContaining('source.baseUrl') },
      });
    },
  );
});
