import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { EXPORT_LIMITS, type ExportLimits } from '../../src/io/limits.js';
import type { ExportFormat } from '../../src/landing/row-scanner.js';
import { writeSegments } from '../../src/landing/segment-writer.js';
import { startService } from '../api/local-service.js';
import { makeFolder } from './folder.js';

/** Small ones; room enough. */
const LIMITS: ExportLimits = { ...EXPORT_LIMITS, lineBytes: 1000, baseBytes: 5000, bytesARow: 100, stepBytes: 1000 };

async function* repeat(text: string): AsyncGenerator<Buffer> {
  for (;;) yield Buffer.from(text);
}

/** What the body comes to, and the bytes of it that landed. */
async function land(
  body: AsyncIterable<Buffer>,
  { announced = 30n, limits = LIMITS, format = 'ndjson' as ExportFormat, targetBytes = 400 } = {},
): Promise<{ error: unknown; landedBytes: number }> {
  const folder = await makeFolder();
  const options = { folder, prefix: 'e-', targetBytes, announced, limits, format };
  const written = writeSegments(body, { ...options, onBytes: () => {}, onSegment: async () => {} });
  const error = await written.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  const files = await Promise.all((await readdir(folder)).map((name) => stat(path.join(folder, name))));
  return { error, landedBytes: files.reduce((sum, { size }) => sum + size, 0) };
}

describe('the body of an export', () => {
  test.each(['ndjson', 'csv'] as const)('that is endless ends with the rows that %s announced', async (format) => {
    const { error, landedBytes } = await land(repeat('{"id":1}\n'), { format });
    expect(error).toMatchObject({
      code: 'snapshot_incomplete',
      message: '/export: more than the 30 rows arrived that X-Export-Rows announced',
    });
    expect(landedBytes).toBeLessThanOrEqual(31 * 9);
  });

  test.each([1, 100, 1_000_000])(
    'may have all the rows that were announced and not one more (segments of %i bytes)',
    async (targetBytes) => {
      const chunkings = [[30], [10, 10, 10], Array.from({ length: 30 }, () => 1)];
      for (const chunks of chunkings) {
        async function* body(more: number) {
          for (const rows of chunks) yield Buffer.from('{"id":1}\n'.repeat(rows));
          if (more > 0) yield Buffer.from('{"id":1}\n'.repeat(more));
        }
        expect((await land(body(0), { targetBytes })).error).toBeUndefined();
        expect((await land(body(1), { targetBytes })).error).toMatchObject({ code: 'snapshot_incomplete' });
      }
      expect((await land([Buffer.from('1\n'.repeat(31))].values() as never, { targetBytes })).error).toMatchObject({
        code: 'snapshot_incomplete',
      });
    },
  );

  test.each([1, 100, 1_000_000])(
    'may have its size and not a byte more (segments of %i bytes)',
    async (targetBytes) => {
      for (const chunks of [[8000], [4000, 4000], [2500, 2500, 3000]]) {
        async function* body(more: number) {
          for (const [n, bytes] of chunks.entries()) yield Buffer.from('\n'.repeat(bytes + (n === 0 ? more : 0)));
        }
        expect((await land(body(0), { targetBytes })).error).toBeUndefined();
        expect((await land(body(1), { targetBytes })).error).toMatchObject({ code: 'contract' });
      }
    },
  );

  test('that is one endless line ends at the longest line, and the error says where it begins', async () => {
    async function* body() {
      yield Buffer.from('{"id":1}\n{"id":2,"title":"');
      yield* repeat('x'.repeat(100));
    }
    const { error, landedBytes } = await land(body());
    expect(error).toMatchObject({
      code: 'contract',
      message: expect.stringMatching(
        /^\/export: row 2, which begins at byte 9, has no end after 10\d\d bytes; 1000 are allowed$/,
      ),
    });
    expect(landedBytes).toBeLessThan(1200);
  });

  test('of CSV with a quote that nothing closes ends at the longest line', async () => {
    async function* body() {
      yield Buffer.from('id,title\n1,a\n2,"');
      yield* repeat('x\n'.repeat(50));
    }
    const { error } = await land(body(), { format: 'csv' });
    expect(error).toMatchObject({
      code: 'contract',
      message: expect.stringContaining('row 2, which begins at byte 13'),
    });
  });

  test('that is blank lines, or long rows without end, ends at its size', async () => {
    for (const line of ['\n'.repeat(90), `{"title":"${'x'.repeat(900)}"}\n`]) {
      const { error, landedBytes } = await land(repeat(line));
      expect(error).toMatchObject({
        code: 'contract',
        message: expect.stringMatching(/bytes arrived for 30 rows; 8000 are allowed$/),
      });
      expect(landedBytes).toBeLessThanOrEqual(8000);
    }
  });

  test('that is a gzip bomb ends before it is decompressed', async () => {
    const bomb = gzipSync(Buffer.alloc(4_000_000, 'x'));
    const service = await startService((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' }).end(bomb);
    });
    const { body } = await service.client.stream('/export', { format: 'ndjson' });
    const { error, landedBytes } = await land(body);
    expect(error).toMatchObject({ code: 'contract' });
    expect(landedBytes).toBe(0);
  });

  test('ends before the disk is full, and the error says how much is needed', async () => {
    const limits = { ...LIMITS, lineBytes: 1e9, baseBytes: 1e9, reserveBytes: 1e15 };
    const { error, landedBytes } = await land(repeat(`{"title":"${'x'.repeat(87)}"}\n`), { limits });
    expect(error).toMatchObject({
      code: 'disk_full',
      message: expect.stringMatching(
        /\d MB are free, and the rest of the export and the files made of it need about 1000000001 MB/,
      ),
      facts: { neededBytes: 1e15 + 2000 + 1500, freeBytes: expect.any(Number) },
    });
    expect(landedBytes).toBeLessThanOrEqual(1000);
  });
});
