import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type BodyPace, BodyQueue } from '../../src/api/body-queue.js';
import { catchError, readAll, startService } from './local-service.js';

/** Sends a byte every few milliseconds for as long as somebody listens. */
function trickle(response: ServerResponse, type: string, status = 200): void {
  response.writeHead(status, { 'content-type': type });
  const timer = setInterval(() => response.write(' '), 5);
  response.on('close', () => clearInterval(timer));
}

describe('a service that sends single bytes slowly', () => {
  test("can't delay a JSON response forever: the call is retried, then reported as unavailable", async () => {
    const { client, urls } = await startService((_request, response) => trickle(response, 'application/json'), {
      timeouts: { bodyMs: 50 },
      attempts: 2,
    });
    const error = await catchError(client.json('/plan', {}, z.unknown()));
    expect(error).toMatchObject({ code: 'unavailable', facts: { attempts: 2 } });
    expect(error.message).toContain(
      'GET /api/v1/plan: the response was cut off (still incomplete 0.05 s after its headers)',
    );
    expect(urls).toHaveLength(2);
  });

  test("can't delay an error response forever: its status still decides the error code", async () => {
    const { client } = await startService((_request, response) => trickle(response, 'application/json', 401), {
      timeouts: { bodyMs: 50 },
    });
    expect((await catchError(client.bytes('/items', {}))).code).toBe('unauthorized');
  });

  test("can't delay an export forever: the export breaks off, and the client doesn't request it again", async () => {
    const { client, urls } = await startService((_request, response) => trickle(response, 'application/x-ndjson'), {
      timeouts: { bodyMs: 1, exportPace: { windowMs: 50, minBytes: 1000 } },
    });
    const { body } = await client.stream('/export', { format: 'ndjson' });
    const error = await catchError(readAll(body));
    expect(error).toMatchObject({ code: 'unavailable', facts: { midStream: true } });
    expect(error.message).toMatch(
      /was cut off after \d+ bytes \(only \d+ bytes in 0\.05 s; at least 1000 are required\)/,
    );
    expect(urls).toHaveLength(1);
  });

  test('may complete a JSON response below the minimum pace of an export', async () => {
    const { client } = await startService(
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{');
        setTimeout(() => response.end('}'), 60);
      },
      { timeouts: { exportPace: { windowMs: 10, minBytes: 1000 } }, attempts: 1 },
    );
    expect((await client.bytes('/items', {})).body.toString()).toBe('{}');
  });

  test("can't delay a call forever with interim responses", async () => {
    const { client } = await startService(
      (_request, response) => {
        const timer = setInterval(() => response.writeProcessing(), 5);
        response.on('close', () => clearInterval(timer));
      },
      { timeouts: { headersMs: 50 }, attempts: 1 },
    );
    const error = await catchError(client.bytes('/items', {}));
    expect(error).toMatchObject({ code: 'unavailable', message: expect.stringContaining('no response within 0.05 s') });
  });
});

describe('the minimum pace of a body', () => {
  /** Reads a body whose pieces arrive in steps, each after a number of milliseconds. Returns the bytes read. */
  async function read(pace: BodyPace, steps: { afterMs: number; bytes: number; busyMs?: number }[]): Promise<number> {
    let now = 0;
    const queue = new BodyQueue({ pause: () => {}, resume: () => {}, close: () => {} }, () => now);
    queue.setPace(pace);
    const chunks = queue[Symbol.asyncIterator]();
    let bytes = 0;
    for (const step of steps) {
      const next = chunks.next();
      await Promise.resolve(); // the reader waits
      now += step.afterMs;
      queue.push(Buffer.alloc(step.bytes));
      bytes += (await next).value?.length ?? 0;
      now += step.busyMs ?? 0;
    }
    queue.end();
    await chunks.next();
    return bytes;
  }

  const minimum = { windowMs: 120_000, minBytes: 1000 };

  test('is measured over a window, so later bytes make up for a pause', async () => {
    const steps = [
      { afterMs: 110_000, bytes: 1 },
      { afterMs: 20_000, bytes: 1000 },
      { afterMs: 100_000, bytes: 1 },
    ];
    expect(await read({ minimum }, steps)).toBe(1002);
    expect(await read({ minimum }, [{ afterMs: 120_000, bytes: 1000 }])).toBe(1000);
    const slow = Array.from({ length: 12 }, () => ({ afterMs: 10_000, bytes: 1 }));
    await expect(read({ minimum }, slow)).rejects.toThrow('only 12 bytes in 120 s; at least 1000 are required');
  });

  test("doesn't apply to a body that has ended, even if its end is noticed late", async () => {
    let now = 0;
    const queue = new BodyQueue({ pause: () => {}, resume: () => {}, close: () => {} }, () => now);
    queue.setPace({ totalMs: 60_000, minimum });
    const last = queue[Symbol.asyncIterator]().next();
    await Promise.resolve(); // the reader waits
    now = 240_000;
    queue.end();
    expect(await last).toEqual({ done: true, value: undefined });
  });

  test('excludes the time in which the reader was busy', async () => {
    const steps = Array.from({ length: 20 }, () => ({ afterMs: 1000, bytes: 1, busyMs: 60_000 }));
    expect(await read({ minimum }, steps)).toBe(20);
  });

  test('of a JSON response is a limit on its total time', async () => {
    const steps = [
      { afterMs: 30_000, bytes: 10 },
      { afterMs: 29_000, bytes: 10 },
    ];
    expect(await read({ totalMs: 60_000 }, steps)).toBe(20);
    expect(await read({ totalMs: 59_000 }, steps)).toBe(20);
    await expect(read({ totalMs: 58_000 }, steps)).rejects.toThrow('still incomplete 58 s after its headers');
  });
});
