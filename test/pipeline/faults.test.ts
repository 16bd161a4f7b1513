import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { PricelakeError } from '../../src/errors.js';
import { openLake } from '../../src/lake/lake.js';
import { lockLake } from '../../src/lake/lock.js';
import { syncPipeline } from '../../src/pipeline/sync.js';
import { openWorld, readItems, readLake, readTruth, testIo, type World, type WorldOptions } from './world.js';

let world: World;
afterEach(() => world.close());

/** A world whose answers to `path` are changed by `change`, as long as `faulty.on`. */
async function openFaulty(
  path: string,
  change: (answer: Response, request: Request) => Promise<Response> | Response,
  options: WorldOptions = {},
): Promise<{ on: boolean }> {
  const faulty = { on: true };
  world = await openWorld({
    items: 300,
    history: path === '/changes' ? 'feed' : 'none',
    ...options,
    intercept: async (request, next) => {
      const answer = await next(request);
      return faulty.on && new URL(request.url).pathname === `/api/v1${path}` ? change(answer, request) : answer;
    },
  });
  return faulty;
}

async function changeLines(answer: Response, change: (lines: string[]) => string[], rows?: number): Promise<Response> {
  const lines = change((await answer.text()).trimEnd().split('\n'));
  const headers = new Headers(answer.headers);
  headers.set('X-Export-Rows', String(rows ?? lines.length));
  headers.delete('content-length');
  return new Response(`${lines.join('\n')}\n`, { headers });
}

async function syncError(): Promise<PricelakeError> {
  return world.sync().then(
    () => {
      throw new Error('the run should have failed');
    },
    (error: PricelakeError) => error,
  );
}

async function expectEmptyLake(): Promise<void> {
  expect((await readdir(world.lakePath)).filter((name) => name !== '_pricelake')).toEqual([]);
}

async function expectCopyWithout(missing: string[] = []): Promise<void> {
  const truth = await readTruth(world.sandbox);
  for (const id of missing) truth.delete(id);
  expect(await readItems(world.lakePath)).toEqual(truth);
}

describe('an export that is not whole', () => {
  test('with fewer rows than announced is taken again, then refused; nothing is published', async () => {
    const faulty = await openFaulty('/export', (answer) => changeLines(answer, (lines) => lines.slice(0, -7), 300));
    const error = await syncError();
    expect(error).toMatchObject({ code: 'snapshot_incomplete' });
    expect(error.message).toMatch(/\d+ rows arrived, X-Export-Rows announced 300/);
    expect(world.requests.filter((request) => request.startsWith('/export'))).toHaveLength(3);
    await expectEmptyLake();
    faulty.on = false;
    await world.sync();
    await expectCopyWithout();
  });

  test('whose stream breaks off is taken again in the same run', async () => {
    world = await openWorld({ items: 300, history: 'none', faults: ['export:drop@1'] });
    const report = await world.sync();
    expect(world.requests.filter((request) => request.startsWith('/export'))).toHaveLength(2);
    expect(report.row.received).toBe(report.row.written + report.row.rejected + report.row.deduplicated);
    await expectCopyWithout();
  });

  test('that the service cut at the monthly limit is no copy: the quota is used up', async () => {
    await openFaulty('/export', (answer) => {
      const headers = new Headers(answer.headers);
      headers.set('X-Export-Truncated', 'true');
      headers.set('X-Export-Matching', '999');
      return new Response(answer.body, { headers });
    });
    expect(await syncError()).toMatchObject({ code: 'quota', facts: { limit: 'exportRowsPerMonth' } });
    await expectEmptyLake();
  });

  test('without X-Export-Rows is refused', async () => {
    await openFaulty('/export', (answer) => {
      const headers = new Headers(answer.headers);
      headers.delete('X-Export-Rows');
      return new Response(answer.body, { headers });
    });
    expect(await syncError()).toMatchObject({ code: 'contract' });
    await expectEmptyLake();
  });
});

describe('rows that cannot be typed', () => {
  test('a malformed line goes to rejects with its place and raw text, and the rest is kept', async () => {
    await openFaulty('/export', (answer) => changeLines(answer, (lines) => lines.with(4, '{"id": 12, "title": "cut')));
    const report = await world.sync();
    expect(report.row).toMatchObject({ rejected: 1n, items: 299n });
    const rejects = await readLake(
      world.lakePath,
      (glob) => `SELECT table_name, line_number, reason, raw FROM ${glob('rejects')}`,
    );
    expect(rejects).toHaveLength(1);
    expect(rejects[0]?.slice(0, 2)).toEqual(['items', '5']);
    expect(rejects[0]?.[2]).toContain('not valid JSON');
    expect(rejects[0]?.[3]).toBe('{"id": 12, "title": "cut');
  });

  test.each([
    ['an id that is no integer', (line: string) => line.replace(/"id":\d+/, '"id":1.5'), /id "1\.5" is not an int64/],
    ['an id beyond int64', (line: string) => line.replace(/"id":\d+/, '"id":9223372036854775808'), /is not an int64/],
    [
      'a price with five decimals',
      (line: string) => line.replace(/"price":[^,]+/, '"price":1.23456'),
      /price "1\.23456" does not fit/,
    ],
    [
      'a price with too many digits',
      (line: string) => line.replace(/"price":[^,]+/, '"price":123456789012345678'),
      /price "123456789012345678" does not fit/,
    ],
    [
      'a time that is none',
      (line: string) => line.replace(/"lastSeenAt":"[^"]+"/, '"lastSeenAt":"soon"'),
      /lastSeenAt "soon" is not a date-time/,
    ],
    [
      'a site that is no object',
      (line: string) => line.replace(/"site":\{[^}]+\}/, '"site":7'),
      /site is not an object/,
    ],
    ['a line that is no object', () => '[1, 2]', /not a JSON object/],
  ])('%s', async (_name, damage, reason) => {
    await openFaulty('/export', (answer) => changeLines(answer, (lines) => lines.with(0, damage(lines[0] as string))));
    const report = await world.sync();
    expect(report.row.rejected).toBe(1n);
    const [[why, raw] = []] = await readLake(world.lakePath, (glob) => `SELECT reason, raw FROM ${glob('rejects')}`);
    expect(why).toMatch(reason);
    expect(raw).toBeTruthy();
    expect(report.row.received).toBe(report.row.written + report.row.rejected + report.row.deduplicated);
  });

  test('a change that cannot be typed goes to rejects, and the feed goes on', async () => {
    await openFaulty('/changes', async (answer) => {
      const text = (await answer.text()).replace('"kind":"NEW"', '"kind":"BORN"');
      return new Response(text, { headers: { 'content-type': 'application/json' } });
    });
    const report = await world.sync();
    expect(report.row.rejected).toBe(1n);
    const [[table, reason] = []] = await readLake(
      world.lakePath,
      (glob) => `SELECT table_name, reason FROM ${glob('rejects')}`,
    );
    expect(table).toBe('history');
    expect(reason).toContain('"BORN" is not NEW, CHANGED, REMOVED or RELISTED');
  });
});

describe('values at the edge', () => {
  test('long numbers arrive exactly: prices of 18 digits, numbers inside attributes', async () => {
    await openFaulty('/export', (answer) =>
      changeLines(answer, (lines) => {
        const line = (lines[0] as string)
          .replace(/"price":[^,]+/, '"price":98765432109876.5432')
          .replace('"attributes":{', '"attributes":{"serial":12345678901234567890123,"ratio":0.12345678901234567890,');
        return lines.with(0, line);
      }),
    );
    await world.sync();
    const [[attributes] = []] = await readLake(
      world.lakePath,
      (glob) => `SELECT attributes FROM ${glob('items')} WHERE price = 98765432109876.5432`,
    );
    expect(attributes).toContain('"serial":12345678901234567890123,"ratio":0.12345678901234567890');
  });

  test('repeated rows are kept once and counted', async () => {
    await openFaulty('/export', (answer) => changeLines(answer, (lines) => [...lines, ...lines.slice(0, 5)]));
    const report = await world.sync();
    expect(report.row).toMatchObject({ deduplicated: 5n, rejected: 0n });
    await expectCopyWithout();
  });

  test('numbers beyond every double stay what they are, row by row as well', async () => {
    await openFaulty('/export', (answer) =>
      changeLines(
        answer,
        (lines) => {
          const huge = (lines[0] as string).replace(/"price":[^,]+/, '"price":1e400');
          const tiny = (lines[1] as string).replace(/"price":[^,]+/, '"price":1e-400');
          return ['', huge, tiny, ...lines.slice(2), '{"cut', ''];
        },
        301,
      ),
    );
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

  test('a field without a name stops no run', async () => {
    await openFaulty('/export', (answer) =>
      changeLines(answer, (lines) => lines.map((line) => line.replace(/^\{/, '{"":1,'))),
    );
    await world.sync();
    await expectCopyWithout();
  });

  test('fields that the document does not name are kept in extra', async () => {
    await openFaulty('/export', (answer) =>
      changeLines(answer, (lines) =>
        lines.with(3, (lines[3] as string).replace(/^\{/, '{"energyLabel":"A++","score":{"a":[1.50]},')),
      ),
    );
    await world.sync();
    const extras = await readLake(
      world.lakePath,
      (glob) => `SELECT extra FROM ${glob('items')} WHERE extra IS NOT NULL`,
    );
    expect(extras).toEqual([['{"energyLabel":"A++","score":{"a":[1.5]}}']]);
  });

  test.each(['flat camel', 'flat snake', 'dotted'])('export rows with %s names are recognized', async (style) => {
    await openFaulty('/export', (answer) => changeLines(answer, (lines) => lines.map((line) => flatten(line, style))));
    await world.sync();
    await expectCopyWithout();
  });
});

const TIMES = ['previousPrice', 'priceChangedAt', 'firstSeenAt', 'lastSeenAt', 'lastChangedAt', 'removedAt'];

/** A nested Item line → flat names; null objects vanish, as flat writers do. Works on text, so that ids stay exact. */
function flatten(line: string, style: string): string {
  const spell = (name: string) =>
    style === 'flat snake' ? name.replace(/[A-Z]/g, (char) => `_${char.toLowerCase()}`) : name;
  const join = (parent: string, child: string) =>
    style === 'dotted' ? `${parent}.${child}` : spell(parent + child.charAt(0).toUpperCase() + child.slice(1));
  const flat = line.replace(
    /"(category|site|source)":(?:\{([^}]*)\}|null),?/g,
    (_match, parent: string, members = '') =>
      members === ''
        ? ''
        : `${String(members).replace(/"(\w+)":(?=["\d-]|null)/g, (_m, name: string) => `"${join(parent, name)}":`)},`,
  );
  return TIMES.reduce((text, name) => text.replace(`"${name}":`, `"${spell(name)}":`), flat);
}

describe('a run that must not go on', () => {
  test('a wrong key is refused', async () => {
    world = await openWorld({ items: 300, history: 'none' });
    world.pipeline.source.apiKey = 'wrong-key-0000';
    const error = await syncError();
    expect(error.code).toBe('unauthorized');
    expect(JSON.stringify([error.message, error.facts])).not.toContain('wrong-key-0000');
    await expectEmptyLake();
  });

  test('a plan without the feed, where the feed is asked for, is refused before an export row is paid for', async () => {
    world = await openWorld({ items: 300, history: 'none', plan: 'free' });
    world.pipeline.source.mode = 'feed';
    expect(await syncError()).toMatchObject({ code: 'plan_refuses', facts: { limit: 'changeFeed' } });
    expect(world.requests.filter((request) => request.startsWith('/export'))).toEqual([]);
  });

  test('a page that is not JSON is refused, and what was published stays', async () => {
    const html = () => new Response('<html>Welcome</html>', { headers: { 'content-type': 'text/html' } });
    const faulty = await openFaulty('/changes', html);
    faulty.on = false;
    await world.sync();
    await world.sandbox.advance({ hours: 6, changes: 30 });
    const before = await readItems(world.lakePath);
    faulty.on = true;
    expect(await syncError()).toMatchObject({ code: 'contract' });
    expect(await readItems(world.lakePath)).toEqual(before);
    faulty.on = false;
    await world.sync();
    await expectCopyWithout();
  });

  test('a feed that stands still is no endless loop', async () => {
    await openFaulty('/changes', () =>
      Response.json({ changes: [], hasMore: true, nextCursor: 0 }, { headers: { 'content-type': 'application/json' } }),
    );
    const error = await syncError();
    expect(error.code).toBe('contract');
    expect(error.message).toContain('nextCursor stands still');
  });

  test('a second run at the same time gets an error of its own', async () => {
    world = await openWorld({ items: 300, history: 'none' });
    const lock = await lockLake(await openLake(world.lakePath, { create: true }), testIo);
    try {
      expect(await syncError()).toMatchObject({ code: 'lake_locked' });
      await expectEmptyLake();
    } finally {
      await lock.release();
    }
    await world.sync();
  });

  test('a folder that holds something else is left untouched', async () => {
    world = await openWorld({ items: 300, history: 'none' });
    await mkdir(world.lakePath);
    await writeFile(path.join(world.lakePath, 'thesis.tex'), 'mine');
    expect(await syncError()).toMatchObject({ code: 'lake_invalid' });
    expect(await readdir(world.lakePath)).toEqual(['thesis.tex']);
  });

  test('another partitioning than the lake has is refused before a call is made', async () => {
    world = await openWorld({ items: 300, history: 'none' });
    await world.sync();
    world.requests.length = 0;
    world.pipeline.lake.tables = { items: { partitionBy: ['currency'] } };
    const error = await syncError();
    expect(error).toMatchObject({ code: 'config' });
    expect(error.message).toContain('partitionBy is [currency], but the lake has [site_id]');
    expect(world.requests).toEqual([]);
  });

  test('a failing gate holds the batch; when the check is changed it is published without a call', async () => {
    const faulty = await openFaulty('/export', (answer) =>
      changeLines(answer, (lines) => lines.map((line) => line.replace(/"currency":"[A-Z]+"/, '"currency":"XXQ"'))),
    );
    world.pipeline.checks = { currency_iso_4217: { severity: 'gate' } };
    const error = await syncError();
    expect(error).toMatchObject({ code: 'gate_failed' });
    expect(error.message).toContain('currency_iso_4217');
    await expectEmptyLake();
    faulty.on = false;
    world.requests.length = 0;
    world.pipeline.checks = {};
    const report = await syncPipeline(world.pipeline, testIo);
    expect(report).toMatchObject({ published: true, resumed: true });
    expect(world.requests).toEqual([]);
  });
});
