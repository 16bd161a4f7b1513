import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { type LandedSegment, landSnapshot } from '../../src/extract/snapshot.js';
import type { Landing } from '../../src/landing/landing.js';
import { type LocalService, sendJson, startService } from '../api/local-service.js';
import { openLanding, reopenLanding } from './landing.js';

const FENCE = '9007199254740993';
const ROWS = Array.from({ length: 50 }, (_, id) => `{"id":${id}}\n`).join('');

interface Export {
  rows?: string | undefined;
  body?: string;
  headers?: Record<string, string>;
  /** Ends the connection after the body instead of the answer. */
  cut?: boolean;
}

/** A service that knows one change; `exports` are its answers to /export, the last one for all further. */
function startExport(...exports: [Export, ...Export[]]): Promise<LocalService> {
  let asked = 0;
  return startService((request, response) => {
    if (request.url?.startsWith('/api/v1/changes/recent')) {
      const change = `{"id":${FENCE},"kind":"NEW","observedAt":"2026-11-20T05:00:00Z","price":null,"previousPrice":null,"changes":{},"item":null}`;
      return sendJson(response, 200, `{"changes":[${change}],"hasMore":false,"nextCursor":${FENCE}}`);
    }
    sendExport(response, exports[Math.min(asked++, exports.length - 1)] as Export);
  });
}

function sendExport(response: ServerResponse, { rows = '50', body = ROWS, headers = {}, cut = false }: Export): void {
  const count = rows === '' ? {} : { 'x-export-rows': rows };
  response.writeHead(200, { 'content-type': 'application/x-ndjson', ...count, ...headers });
  if (!cut) return void response.end(body);
  response.write(body);
  setTimeout(() => response.destroy(), 20);
}

interface Taken {
  segments: LandedSegment[];
  restarts: number;
}

function listen(): { taken: Taken; events: Parameters<typeof landSnapshot>[2] } {
  const taken: Taken = { segments: [], restarts: 0 };
  return {
    taken,
    events: {
      onSegment: (segment) => void taken.segments.push(segment),
      onRestart: async () => {
        taken.restarts++;
        taken.segments = [];
      },
    },
  };
}

async function land(service: LocalService, landing: Landing) {
  const { taken, events } = listen();
  const landed = await landSnapshot(service.client, landing, events, service.io);
  return { landed, taken };
}

const countExports = ({ urls }: LocalService) => urls.filter((url) => url.startsWith('/api/v1/export')).length;

describe('a snapshot', () => {
  test('takes the fence first, then all items, removed ones too, and hands over its segments', async () => {
    const service = await startExport({});
    const { landed, taken } = await land(service, await openLanding());
    expect(service.urls).toEqual(['/api/v1/changes/recent?limit=1', '/api/v1/export?format=ndjson&status=all']);
    expect(landed).toEqual({ fence: BigInt(FENCE), rows: 50n, bytes: ROWS.length });
    expect(taken.segments).toMatchObject([{ rows: 50, readAt: expect.stringMatching(/^2026-/) }]);
    expect(await readFile(taken.segments[0]?.path ?? '', 'utf8')).toBe(ROWS);
  });

  test('that is landed costs no call again: fence and segments come from the journal', async () => {
    const service = await startExport({});
    const first = await land(service, await openLanding());
    const again = await land(service, await reopenLanding());
    expect(again).toEqual(first);
    expect(service.urls).toHaveLength(2);
  });

  test('whose stream broke off is taken again in the same run; only the whole one counts', async () => {
    const service = await startExport({ body: ROWS.slice(0, 200), cut: true }, {});
    const landing = await openLanding();
    const { landed, taken } = await land(service, landing);
    expect(taken).toMatchObject({ restarts: 1, segments: [{ rows: 50 }] });
    expect(landed.rows).toBe(50n);
    expect(landing.journal.all('export.begin')).toHaveLength(2);
    expect((await land(service, await reopenLanding())).taken.segments).toEqual(taken.segments);
  });

  test('with other rows than announced is asked for three times at most, then refused', async () => {
    const service = await startExport({ rows: '51' });
    await expect(land(service, await openLanding())).rejects.toMatchObject({
      code: 'snapshot_incomplete',
      message: '/export: 50 rows arrived, X-Export-Rows announced 51',
    });
    expect(countExports(service)).toBe(3);
  });

  test('that an earlier run could not complete keeps its fence and is taken anew', async () => {
    const broken = await startExport({ rows: '51' });
    await expect(land(broken, await openLanding())).rejects.toMatchObject({ code: 'snapshot_incomplete' });
    const service = await startExport({});
    const { landed } = await land(service, await reopenLanding());
    expect(service.urls).toEqual(['/api/v1/export?format=ndjson&status=all']);
    expect(landed).toMatchObject({ fence: BigInt(FENCE), rows: 50n });
  });

  test('of nothing is whole', async () => {
    const service = await startExport({ rows: '0', body: '' });
    const { landed, taken } = await land(service, await openLanding());
    expect(landed).toMatchObject({ rows: 0n, bytes: 0 });
    expect(taken.segments).toEqual([]);
  });

  test('that the service cut at the monthly limit is refused before its rows are read', async () => {
    const service = await startExport({ headers: { 'x-export-truncated': 'true', 'x-export-matching': '900' } });
    await expect(land(service, await openLanding())).rejects.toMatchObject({
      code: 'quota',
      message: '/export: the service cut the export at the monthly limit: 50 of 900 rows',
      facts: { limit: 'exportRowsPerMonth' },
    });
    expect(countExports(service)).toBe(1);
  });

  test('beyond the quota is journaled as billed', async () => {
    const service = await startExport({ headers: { 'x-export-overage': 'true' } });
    const landing = await openLanding();
    await land(service, landing);
    expect(landing.journal.last('export.done')).toMatchObject({ overage: true, announced: 50n, landed: 50n });
  });

  test.each(['', '-1', '5.0', 'many', '1e3', '9999999999999999999'])(
    'with the header X-Export-Rows: %j is refused: a cut one could not be told from a whole one',
    async (rows) => {
      const service = await startExport({ rows });
      await expect(land(service, await openLanding())).rejects.toMatchObject({
        code: 'contract',
        message: expect.stringContaining(`X-Export-Rows is "${rows}"`),
      });
    },
  );
});
