import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { openLake } from '../../src/lake/lake.js';
import { lockLake } from '../../src/lake/lock.js';
import { failure } from '../failure.js';
import { expectExactCopy } from './exact-copy.js';
import { openWorld, readLake, readTruth, testIo } from './world.js';

/** Changes a response of the service. */
type Change = (answer: Response) => Promise<Response> | Response;

const world = await openWorld({ items: 40, sites: 2, history: 'none' });
beforeEach(() => {
  world.sandbox.changeAccount({ plan: 'pro' });
  world.renew();
});
afterAll(() => world.close());

/** From now on, `change` is applied to the responses to `path`. */
function breakAnswers(path: string, change: Change): void {
  world.intercept = async (request, next) => {
    const answer = await next(request);
    return new URL(request.url).pathname === `/api/v1${path}` ? change(answer) : answer;
  };
}

/** From now on, `change` is applied to the lines of exports. */
function changeExport(change: (lines: string[]) => string[]): void {
  breakAnswers('/export', (answer) => changeLines(answer, change));
}

async function changeLines(answer: Response, change: (lines: string[]) => string[], rows?: number): Promise<Response> {
  const lines = change((await answer.text()).trimEnd().split('\n'));
  const headers = new Headers(answer.headers);
  headers.set('X-Export-Rows', String(rows ?? lines.filter((line) => line !== '').length));
  headers.delete('content-length');
  return new Response(`${lines.join('\n')}\n`, { headers });
}

async function expectEmptyLake(): Promise<void> {
  expect((await readdir(world.lakePath)).filter((name) => name !== '_pricelake')).toEqual([]);
}

describe('an incomplete export', () => {
  test('without X-Export-Rows is refused', async () => {
    breakAnswers('/export', (answer) => {
      const headers = new Headers(answer.headers);
      headers.delete('X-Export-Rows');
      return new Response(answer.body, { headers });
    });
    expect(await failure(world.sync())).toMatchObject({ code: 'contract' });
    await expectEmptyLake();
  });
});

describe("rows that can't be typed", () => {
  test('are added to rejects with their positions, raw texts and reasons, and the other rows are kept', async () => {
    const damages: [(line: string) => string, RegExp][] = [
      [() => '{"id": 12, "title": "cut', /not valid JSON/],
      [(line) => line.replace(/"id":\d+/, '"id":1.5'), /id "1\.5" is not an int64/],
      [(line) => line.replace(/"price":[^,]+/, '"price":1.23456'), /price "1\.23456" does not fit/],
      [(line) => line.replace(/"lastSeenAt":"[^"]+"/, '"lastSeenAt":"soon"'), /lastSeenAt "soon" is not a date-time/],
      [(line) => line.replace(/"site":\{[^}]+\}/, '"site":7'), /site is not an object/],
      [() => '[1, 2]', /not a JSON object/],
    ];
    let damaged: string[] = [];
    changeExport((lines) => {
      damaged = damages.map(([damage], n) => damage(lines[n * 2] as string));
      return lines.map((line, n) => (n % 2 === 0 ? (damaged[n / 2] ?? line) : line));
    });
    const report = await world.sync();
    const { size } = await readTruth(world.sandbox);
    expect(report.row).toMatchObject({ rejected: 6n });
    // An item that the feed reported within the last hour is read individually.
    expect(report.row.items).toBeGreaterThanOrEqual(BigInt(size - 6));
    expect(report.row.items).toBeLessThan(BigInt(size));
    expect(report.row.received).toBe(report.row.written + report.row.rejected + report.row.deduplicated);
    const rejects = await readLake(
      world.lakePath,
      (glob) => `SELECT table_name, line_number, raw, reason FROM ${glob('rejects')} ORDER BY line_number`,
    );
    expect(rejects).toEqual(
      damages.map(([, reason], n) => ['items', String(n * 2 + 1), damaged[n], expect.stringMatching(reason)]),
    );
  });
});

describe('unusual values', () => {
  test('long numbers are kept exactly: prices with 18 digits, and numbers inside attributes', async () => {
    changeExport((lines) => {
      const line = (lines[0] as string)
        .replace(/"price":[^,]+/, '"price":98765432109876.5432')
        .replace('"attributes":{', '"attributes":{"serial":12345678901234567890123,"ratio":0.12345678901234567890,');
      return lines.with(0, line);
    });
    await world.sync();
    const [[attributes] = []] = await readLake(
      world.lakePath,
      (glob) => `SELECT attributes FROM ${glob('items')} WHERE price = 98765432109876.5432`,
    );
    expect(attributes).toContain('"serial":12345678901234567890123,"ratio":0.12345678901234567890');
  });

  test('numbers outside the range of doubles are rejected with their text, also when typed row by row', async () => {
    changeExport((lines) => {
      const huge = (lines[0] as string).replace(/"price":[^,]+/, '"price":1e400');
      const tiny = (lines[1] as string).replace(/"price":[^,]+/, '"price":1e-400');
      return ['', huge, tiny, ...lines.slice(2), '{"cut', ''];
    });
    const report = await world.sync();
    const reasons = await readLake(
      world.lakePath,
      (glob) => `SELECT reason FROM ${glob('rejects')} ORDER BY line_number`,
    );
    expect(report.row.rejected).toBe(3n);
    expect(reasons.slice(0, 2)).toEqual([
      ['price "1e400" does not fit DECIMAL(18,4)'],
      ['price "1e-400" does not fit DECIMAL(18,4)'],
    ]);
  });

  test("a field without a name doesn't stop a run", async () => {
    changeExport((lines) => lines.map((line) => line.replace(/^\{/, '{"":1,')));
    await world.sync();
    await expectExactCopy(world);
  });

  test('undocumented fields are kept in extra', async () => {
    changeExport((lines) =>
      lines.with(3, (lines[3] as string).replace(/^\{/, '{"energyLabel":"A++","score":{"a":[1.50]},')),
    );
    await world.sync();
    const extras = await readLake(
      world.lakePath,
      (glob) => `SELECT extra FROM ${glob('items')} WHERE extra IS NOT NULL`,
    );
    expect(extras).toEqual([['{"energyLabel":"A++","score":{"a":[1.5]}}']]);
  });
});

describe("a run that can't continue", () => {
  test('with a wrong key is refused', async () => {
    world.pipeline.source.apiKey = 'wrong-key-0000';
    const error = await failure(world.sync());
    expect(error.code).toBe('unauthorized');
    expect(JSON.stringify([error.message, error.facts])).not.toContain('wrong-key-0000');
    await expectEmptyLake();
  });

  test('because mode is feed on a plan without the feed is refused before an export row is paid for', async () => {
    world.sandbox.changeAccount({ plan: 'free' });
    world.pipeline.source.mode = 'feed';
    expect(await failure(world.sync())).toMatchObject({ code: 'plan_refuses', facts: { limit: 'changeFeed' } });
    expect(world.requests.filter((request) => request.startsWith('/export'))).toEqual([]);
  });

  test('because another run works on the lake gets its own error', async () => {
    const lock = await lockLake(await openLake(world.lakePath, { create: true }), testIo);
    try {
      expect(await failure(world.sync())).toMatchObject({ code: 'lake_locked' });
      await expectEmptyLake();
    } finally {
      await lock.release();
    }
    await world.sync();
  });

  test('because the folder contains something else leaves the folder unchanged', async () => {
    await mkdir(world.lakePath);
    await writeFile(path.join(world.lakePath, 'thesis.tex'), 'mine');
    expect(await failure(world.sync())).toMatchObject({ code: 'lake_invalid' });
    expect(await readdir(world.lakePath)).toEqual(['thesis.tex']);
  });

  test("because the partitioning differs from the lake's is refused before any call", async () => {
    await world.sync();
    world.requests.length = 0;
    world.pipeline.lake.tables = { items: { partitionBy: ['currency'] } };
    const error = await failure(world.sync());
    expect(error).toMatchObject({ code: 'config' });
    expect(error.message).toContain('partitionBy is [currency], but the lake has [site_id]');
    expect(world.requests).toEqual([]);
  });
});
