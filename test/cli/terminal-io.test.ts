import { describe, expect, it, vi } from 'vitest';
import { formatProgress } from '../../src/cli/progress.js';
import { createCliIo } from '../../src/cli/terminal-io.js';
import { MemoryStream } from './open-context.js';

const at = new Date('2026-11-20T09:00:00Z');

describe('the log without a terminal', () => {
  it('consists of JSON lines with exact integers', () => {
    const stream = new MemoryStream();
    createCliIo({ stream, env: {}, now: () => at }).log('info', 'feed.page', { cursor: 2n ** 63n - 1n, at: undefined });
    expect(stream.text).toBe(
      '{"at":"2026-11-20T09:00:00.000Z","level":"info","event":"feed.page","cursor":9223372036854775807}\n',
    );
  });

  it('has seconds with three decimals', () => {
    const stream = new MemoryStream();
    const facts = { seconds: 0.0151798394319, waitSeconds: 2, share: 0.123456 };
    createCliIo({ stream, env: {} }).log('info', 'check', facts);
    expect(JSON.parse(stream.text)).toMatchObject({ seconds: 0.015, wait_seconds: 2, share: 0.123456 });
  });

  it('has debug events only if requested', () => {
    const stream = new MemoryStream();
    createCliIo({ stream, env: {} }).log('debug', 'x');
    expect(stream.text).toBe('');
    createCliIo({ stream, env: {}, level: 'debug' }).log('debug', 'x');
    expect(stream.text).toContain('"event":"x"');
  });

  it('reports the progress of the current step every ten seconds until it is closed', () => {
    vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] });
    const stream = new MemoryStream();
    const io = createCliIo({ stream, env: {} });
    io.progress({ step: 'run', rows: 0n, bytes: 0, pace: { seconds: 60, rows: 100n } });
    for (let i = 0; i < 250; i += 1) {
      if (i <= 150) io.progress({ step: 'land', part: 'snapshot', rows: BigInt(i), bytes: i, done: i === 150 });
      if (i >= 150) io.progress({ step: 'prove', part: 'checks', rows: 1n, totalRows: 60n, bytes: 0, unit: 'checks' });
      vi.advanceTimersByTime(100);
    }
    io.close();
    vi.advanceTimersByTime(60_000);
    vi.useRealTimers();
    const lines = stream.text.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { event: 'progress', step: 'land', part: 'snapshot', rows: 99, seconds: 10, seconds_left: 50 },
      { event: 'progress', step: 'prove', part: 'checks', rows: 1, total_rows: 60, unit: 'checks', seconds: 20 },
    ]);
  });

  it('with --quiet has no progress, and only warnings and errors', () => {
    vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] });
    const stream = new MemoryStream();
    const io = createCliIo({ stream, env: {}, level: 'warn' });
    io.progress({ step: 'land', part: 'feed', rows: 1n, bytes: 0 });
    io.log('info', 'x');
    vi.advanceTimersByTime(60_000);
    vi.useRealTimers();
    expect(stream.text).toBe('');
    io.log('warn', 'y');
    expect(stream.text).toContain('"event":"y"');
  });
});

describe('the log on a terminal', () => {
  it('is one readable line per event, without foreign control characters', () => {
    const stream = new MemoryStream(true);
    const facts = { file: 'a b', reason: '\u001b[2Jx\ny', rows: 3n, seconds: 0.0151798394319 };
    createCliIo({ stream, env: {} }).log('warn', 'rejects', facts);
    expect(stream.text).toBe('! rejects file="a b" reason="\\u001b[2Jx\\ny" rows=3 seconds=0.0152\n');
  });
});

describe("a run's limits", () => {
  const facts = { memory: 512e6, mostMemory: 8e9, machineMemory: 24e9, threads: 2, freeDisk: 79e9 };

  it.each([
    ['info', ''],
    [
      'debug',
      '· DuckDB may use 512.0 MB of the 24.0 GB of memory on this machine, or 8.0 GB if a statement needs more, on 2 threads; 79.0 GB of disk is free\n',
    ],
  ] as const)('appear on a terminal only with --verbose (level %s)', (level, text) => {
    const stream = Object.assign(new MemoryStream(true), { columns: 400 });
    createCliIo({ stream, env: {}, level }).log('info', 'run.machine', facts);
    expect(stream.text).toBe(text);
  });
});

describe('a retried call', () => {
  const facts = { path: '/changes', attempt: 1, waitMs: 2_345, reason: 'GET /changes was answered 503\u001b[2J' };

  it('is one short sentence on a terminal', () => {
    const stream = new MemoryStream(true);
    createCliIo({ stream, env: {} }).log('warn', 'api.retry', facts);
    expect(stream.text).toBe('! GET /changes was answered 503[2J; retrying in 2.3 s (attempt 2)\n');
  });

  it('is logged with its facts', () => {
    const stream = new MemoryStream();
    createCliIo({ stream, env: {}, now: () => at }).log('warn', 'api.retry', facts);
    expect(JSON.parse(stream.text)).toMatchObject({ event: 'api.retry', path: '/changes', attempt: 1, wait_ms: 2_345 });
  });
});

describe('a sentence', () => {
  it('replaces a frequent event and fits the terminal', () => {
    const stream = Object.assign(new MemoryStream(true), { columns: 40 });
    const io = createCliIo({ stream, env: { PRICELAKE_API_KEY: 'a key with spaces' } });
    const reason = 'GET /items?key=a key with spaces returned 503: the database is being moved';
    io.log('warn', 'sample.skipped', { code: 'unavailable', reason });
    expect(stream.text).toBe(
      '! no sample was compared: GET\n  /items?key=*** returned 503: the\n  database is being moved\n',
    );
  });

  const at = new Date('2026-11-20T09:00:00Z');
  it.each([
    ['run.resumed', { runId: '1-x' }, 'Continuing run 1-x, which was interrupted'],
    ['items.stale', { items: 1n }, '1 item may be out of date; each run rereads them'],
    [
      'export.broken',
      { shard: 'all', runs: 1, nextRunAt: at },
      /^export all was interrupted in 1 run; .* 2026-11-20T09:00/u,
    ],
    ['export.overage_not_agreed', { blocks: 2n, agreed: 1n }, /charges for 2 blocks of overage, but the limit is 1$/u],
    ['datasets.waiting', { datasets: '3', reason: 'no rows are left' }, 'datasets 3 are postponed: no rows are left'],
    [
      'copy.datasets_locked',
      { kept: 2n },
      /^kept 2 items unchanged, because the key can no longer read their datasets$/u,
    ],
    ['pages.short', { seen: 1n, total: 1_000n }, /^the pages contain 1 item, but the service reports 1,000;/u],
    ['probe.skipped', { reason: 'x' }, 'the times when websites were last seen were not requested: x'],
    ['feed.cursor_refused', { cursor: 7n }, /^the service rejects cursor 7;/u],
    ['gate.waived', { checks: ['a', 'b'] }, 'published although a, b failed'],
    ['lake.lock_taken_over', { pid: 7, host: 'h' }, 'took over the lock of process 7 on h, which has ended'],
    ['lake.recovered', { table: 'items', files: 1 }, 'removed 1 file of items that no version needs'],
    ['schema.drift', { found: [1] }, /^the responses differ from the API document in 1 way;/u],
  ])('explains %s', (event, facts, expected) => {
    const stream = Object.assign(new MemoryStream(true), { columns: 400 });
    createCliIo({ stream, env: {} }).log('warn', event, facts);
    expect(stream.text).toMatch(/^! [^=]+\n$/u);
    expect(stream.text.slice(2, -1)).toMatch(expected);
  });
});

describe('secrets', () => {
  it('are never printed in any encoding', () => {
    const stream = new MemoryStream();
    const io = createCliIo({ stream, env: { PRICELAKE_API_KEY: 'key-from-env' } });
    for (const secret of ['s/ecret+1', 'late"secret']) io.protectSecret(secret);
    io.log('error', 'request', {
      header: 'Bearer key-from-env',
      url: `https://x.example?k=${encodeURIComponent('s/ecret+1')}`,
      body: 's/ecret+1 late"secret',
    });
    expect(JSON.parse(stream.text)).toMatchObject({
      header: 'Bearer ***',
      url: 'https://x.example?k=***',
      body: '*** ***',
    });
    expect(io.redact('key-from-env')).toBe('***');
  });
});

it('a progress line without a total shows its count and the elapsed time', () => {
  expect(formatProgress({ step: 'land', part: 'feed', rows: 1_000n, bytes: 0, done: true }, 2)).toBe(
    'land feed      1,000 rows 500 rows/s done in 2.0 s',
  );
});
