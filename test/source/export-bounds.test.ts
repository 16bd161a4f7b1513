import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { PricelakeError } from '../../src/io/errors.js';
import { type ExportLimits, LIMITS } from '../../src/io/limits.js';
import { ExportBounds } from '../../src/source/export-bounds.js';
import type { ExportFormat } from '../../src/source/row-scanner.js';
import { writeSegments } from '../../src/source/segment-writer.js';
import { startService } from '../api/local-service.js';
import { makeFolder } from '../journal/folder.js';

/** Small limits, but enough disk space. */
const FEW: ExportLimits = { ...LIMITS.export, lineBytes: 1000, baseBytes: 5000, bytesARow: 100, stepBytes: 1000 };

async function* repeat(text: string): AsyncGenerator<Buffer> {
  for (;;) yield Buffer.from(text);
}

/** Writes the body, and returns the error and the number of landed bytes. */
async function land(
  body: AsyncIterable<Buffer>,
  { announced = 30n, limits = FEW, format = 'ndjson' as ExportFormat, targetBytes = 400 } = {},
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
  test.each(['ndjson', 'csv'] as const)(
    'that never ends is stopped at the announced number of rows, in %s',
    async (format) => {
      const { error, landedBytes } = await land(repeat('{"id":1}\n'), { format });
      expect(error).toMatchObject({
        code: 'snapshot_incomplete',
        message: '/export: more rows arrived than the 30 that X-Export-Rows announced',
        facts: { hint: 'Nothing was published. Run the same command again.' },
      });
      expect(landedBytes).toBeLessThanOrEqual(31 * 9);
    },
  );

  test.each([1, 100, 1_000_000])(
    'may contain the announced rows, and not one more (segments of %i bytes)',
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
    'may reach its size limit, and not exceed it by one byte (segments of %i bytes)',
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

  test('with one endless line is stopped at the maximum line length, and the error says where the line begins', async () => {
    async function* body() {
      yield Buffer.from('{"id":1}\n{"id":2,"title":"');
      yield* repeat('x'.repeat(100));
    }
    const { error, landedBytes } = await land(body());
    expect(error).toMatchObject({
      code: 'contract',
      message: expect.stringMatching(
        /^\/export: row 2, which begins at byte 9, is still incomplete after 10\d\d bytes, but the limit is 1000$/,
      ),
      facts: {
        hint: expect.stringContaining(
          'Report this to the service; for the limits, see docs/reference/answers.md, "Limits".',
        ),
      },
    });
    expect(landedBytes).toBeLessThan(1200);
  });

  test('in CSV with an unclosed quote is stopped at the maximum line length', async () => {
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

  test('with endless blank lines or long rows is stopped at its size limit', async () => {
    for (const line of ['\n'.repeat(90), `{"title":"${'x'.repeat(900)}"}\n`]) {
      const { error, landedBytes } = await land(repeat(line));
      expect(error).toMatchObject({
        code: 'contract',
        message: expect.stringMatching(/bytes arrived for 30 rows, but the limit is 8000$/),
        facts: {
          hint: expect.stringContaining(
            'Report this to the service; for the limits, see docs/reference/answers.md, "Limits".',
          ),
        },
      });
      expect(landedBytes).toBeLessThanOrEqual(8000);
    }
  });

  test('that is a gzip bomb is refused before it is decompressed', async () => {
    const bomb = gzipSync(Buffer.alloc(4_000_000, 'x'));
    const service = await startService((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' }).end(bomb);
    });
    const { body } = await service.client.stream('/export', { format: 'ndjson' });
    const { error, landedBytes } = await land(body);
    expect(error).toMatchObject({ code: 'contract' });
    expect(landedBytes).toBe(0);
  });
});

describe('the disk space for an export', () => {
  const refuse = async (limits: Partial<ExportLimits>, landed: { rows: bigint; bytes: number }) => {
    const bounds = new ExportBounds(30n, await makeFolder(), { ...FEW, ...limits });
    return bounds.requireRoom(landed).then(
      () => undefined,
      (error: unknown) => (error as PricelakeError).facts.neededBytes,
    );
  };

  test('includes the remaining rows, and what a run computes from all rows', async () => {
    const limits = { reserveBytes: 1e15, workShare: 1.5 };
    expect(await refuse(limits, { rows: 10n, bytes: 2000 })).toBe(1e15 + 4000 + 9000);
    expect(await refuse(limits, { rows: 30n, bytes: 2000 })).toBe(1e15 + 3000);
    expect(await refuse(limits, { rows: 0n, bytes: 2000 })).toBe(1e15 + 3000);
    // Rows that weren't announced don't make the rest negative.
    expect(await refuse(limits, { rows: 60n, bytes: 2000 })).toBe(1e15 + 3000);
    expect(await refuse({ ...limits, workShare: 0.0001 }, { rows: 30n, bytes: 2000 })).toBe(1e15 + 1);
  });

  test('only needs to cover a reserve, and what a run computes from the landed bytes', async () => {
    const landed = { rows: 1n, bytes: 2000 };
    expect(await refuse({ reserveBytes: 0, workShare: 1e15 }, landed)).toBeGreaterThan(1e15);
    expect(await refuse({ reserveBytes: 0, workShare: 1 }, landed)).toBeUndefined();
  });

  test('is checked once per step', async () => {
    const folder = await makeFolder();
    const bounds = new ExportBounds(30n, folder, { ...FEW, reserveBytes: 0 });
    await bounds.requireRoom({ rows: 1n, bytes: 1000 });
    await rm(folder, { recursive: true });
    await bounds.requireRoom({ rows: 1n, bytes: 1999 });
    await expect(bounds.requireRoom({ rows: 1n, bytes: 2000 })).rejects.toMatchObject({ code: 'ENOENT' });
    const other = new ExportBounds(30n, folder, FEW);
    await other.requireRoom({ rows: 1n, bytes: 999 });
    await expect(other.requireRoom({ rows: 1n, bytes: 1000 })).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('is checked before it runs out, and the error states the needed megabytes, rounded up, and what to do', async () => {
    const limits = { ...FEW, lineBytes: 1e9, baseBytes: 1e9, reserveBytes: 1e15 };
    const { error, landedBytes } = await land(repeat(`{"title":"${'x'.repeat(87)}"}\n`), { limits });
    expect(error).toMatchObject({
      code: 'disk_full',
      message: expect.stringMatching(
        /: \d+ MB free, but the rest .* need about 1000000001 MB; published data is unaffected$/,
      ),
      facts: {
        neededBytes: 1e15 + 2000 + 1500,
        freeBytes: expect.any(Number),
        hint: 'Free up that much space or move the lake to a larger disk, then run the same command again.',
      },
    });
    expect(landedBytes).toBeLessThanOrEqual(1000);
  });
});

test('an export without its own limits has the default limits', () => {
  const bounds = new ExportBounds(1n, '/none');
  const { lineBytes } = LIMITS.export;
  expect(() => bounds.admit({ rows: 0n, bytes: lineBytes, openBytes: lineBytes })).not.toThrow();
  expect(() => bounds.admit({ rows: 0n, bytes: 1e12, openBytes: 0 })).toThrow('bytes arrived for 1 rows');
});
