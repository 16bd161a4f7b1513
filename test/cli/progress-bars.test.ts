import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { formatProgress } from '../../src/cli/progress.js';
import { createCliIo } from '../../src/cli/terminal-io.js';
import type { Progress } from '../../src/io/io.js';
import { MemoryStream } from './open-context.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Returns the lines on a terminal after these bytes; it interprets the controls "up", "start of line" and "clear below". */
function show(text: string, columns: number): string[] {
  const lines = [''];
  let row = 0;
  let column = 0;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminals are told by control characters
  for (const [token, up] of text.matchAll(/\u001b\[(\d+)A|\u001b\[J|[\s\S]/gu)) {
    if (up !== undefined) row -= Number(up);
    else if (token === '\u001b[J') lines.splice(row, lines.length, (lines[row] ?? '').slice(0, column));
    else if (token === '\r') column = 0;
    else if (token === '\n') {
      row += 1;
      column = 0;
    } else {
      if (column === columns) {
        row += 1;
        column = 0;
      }
      const line = (lines[row] ?? '').padEnd(column);
      lines[row] = line.slice(0, column) + token + line.slice(column + 1);
      column += 1;
    }
    while (lines.length <= row) lines.push('');
  }
  return lines;
}

function openTerminal(columns: number) {
  const stream = Object.assign(new MemoryStream(true), { columns });
  const io = createCliIo({ stream, env: {} });
  const step = (part: string, rows: bigint, done = false) => {
    io.progress({ step: 'land', part, rows, totalRows: 1_000_000n, bytes: 12_300_000, done });
    vi.advanceTimersByTime(1);
  };
  return { io, stream, step, screen: () => show(stream.text, columns) };
}

describe.each([80, 120])('bars on a terminal of %i columns', (columns) => {
  it('leave no remains in log lines, and stay below them', () => {
    const { io, step, screen } = openTerminal(columns);
    step('snapshot', 123_456n);
    io.log('info', 'one');
    step('feed', 500_000n);
    io.log('warn', 'two', { rows: 2 });
    io.log('info', 'long', { text: 'x'.repeat(150) });
    const long = `· long text=${'x'.repeat(150)}`;
    const wrapped = Array.from({ length: Math.ceil(long.length / columns) }, (_, at) =>
      long.slice(at * columns, (at + 1) * columns),
    );
    expect(screen()).toEqual([
      '· one',
      '! two rows=2',
      ...wrapped,
      expect.stringMatching(/^land snapshot {2}█+░+ 12% 123,456\/1,000,000 rows .*left$/u),
      expect.stringMatching(/^land feed {6}█+░+ 50% 500,000\/1,000,000 rows .*left$/u),
      '',
    ]);
  });

  it('are never cut off', () => {
    const { io, step, screen } = openTerminal(columns);
    step('snapshot', 123_456n);
    step('hydrate', 999_999n);
    io.log('info', 'one');
    for (const line of screen()) expect(line.length).toBeLessThan(columns);
    expect(screen().filter((line) => line.endsWith('left'))).toHaveLength(2);
  });

  it('leave one line for a longer finished step, none for a short one, and the last state when they end', () => {
    const { io, step, screen } = openTerminal(columns);
    step('snapshot', 10n);
    step('feed', 20n);
    vi.advanceTimersByTime(2_000);
    step('snapshot', 1_000_000n, true);
    step('poll', 5n);
    step('poll', 5n, true);
    io.log('info', 'one');
    io.close();
    io.log('info', 'two');
    expect(screen()).toEqual([
      expect.stringMatching(/^land snapshot {2}.* 100% 1,000,000\/1,000,000 rows .*done in 2\.0 s$/u),
      '· one',
      expect.stringMatching(/^land feed {6}.* 0% 20\/1,000,000 rows /u),
      '· two',
      '',
    ]);
  });

  it("end with the run's time and the time left by earlier runs, which advances between updates", () => {
    const { io, screen } = openTerminal(columns);
    io.progress({ step: 'run', rows: 0n, bytes: 0, pace: { seconds: 40, rows: 1_000n } });
    io.progress({ step: 'land', part: 'snapshot', rows: 1n, totalRows: 2_000n, bytes: 0 });
    vi.advanceTimersByTime(5_000);
    expect(screen().at(-2)).toBe('run            5.0 s, about 1 min 15 s left');
    vi.advanceTimersByTime(90_000);
    expect(screen().at(-2)).toBe('run            1 min 35 s');
    io.progress({ step: 'land', part: 'snapshot', rows: 2n, totalRows: 2_000n, bytes: 0, done: true });
    io.close();
    expect(screen().join('\n')).not.toContain('run');
  });

  it('show a lower bound of the time if there is no earlier run, and mark estimated totals', () => {
    const { io, screen } = openTerminal(columns);
    io.progress({ step: 'land', part: 'feed', rows: 0n, totalRows: 90_000n, isEstimate: true, bytes: 0 });
    vi.advanceTimersByTime(5_000);
    io.progress({ step: 'land', part: 'feed', rows: 10_000n, totalRows: 90_000n, isEstimate: true, bytes: 0 });
    vi.advanceTimersByTime(1_000);
    expect(screen()[0]).toMatch(/^land feed {6}█+░+ 11% 10,000\/≈90,000 rows .*48 s left$/u);
    expect(screen().at(-2)).toBe('run            6.0 s, at least 48 s left');
  });

  it('derive no time from the number of tables, because each may take any time', () => {
    const { io, screen } = openTerminal(columns);
    io.progress({ step: 'derive', part: 'tables', rows: 0n, totalRows: 8n, bytes: 0, unit: 'tables' });
    vi.advanceTimersByTime(5_000);
    io.progress({ step: 'derive', part: 'tables', rows: 2n, totalRows: 8n, bytes: 5, unit: 'tables' });
    vi.advanceTimersByTime(1_000);
    expect(screen().slice(0, 2)).toEqual([
      expect.stringMatching(/^derive tables {2}█+░+ 25% 2\/8 tables 5 B 6\.0 s$/u),
      'run            6.0 s',
    ]);
  });

  it("count in the step's unit", () => {
    const { io, screen } = openTerminal(columns);
    io.progress({ step: 'prove', part: 'checks', rows: 3n, totalRows: 60n, bytes: 0, unit: 'checks' });
    vi.advanceTimersByTime(300);
    io.progress({ step: 'prove', part: 'checks', rows: 30n, totalRows: 60n, bytes: 0, unit: 'checks' });
    vi.advanceTimersByTime(200);
    expect(screen()[0]).toMatch(/^prove checks {3}█+░+ 50% 30\/60 checks 0\.3 s left$/u);
  });
});

describe('a terminal window', () => {
  it('that gets narrower keeps no part of a wider bar', () => {
    const { io, stream, step } = openTerminal(120);
    step('snapshot', 123_456n);
    const [wide = ''] = show(stream.text, 120);
    // The terminal wraps the existing lines.
    const before = stream.text.length;
    stream.columns = 60;
    io.log('info', 'one');
    const [first, second, ...rest] = show(`${wide}\n${stream.text.slice(before)}`, 60);
    expect(wide.length).toBeGreaterThan(60);
    expect([first, rest]).toEqual(['· one', ['']]);
    expect(second).toMatch(/^land snapshot .*left$/u);
  });

  it.each([0, Number.NaN])('that reports %d columns and rows is drawn as 80 by 24', (unknown) => {
    const usual = openTerminal(80);
    const odd = openTerminal(unknown);
    Object.assign(odd.stream, { rows: unknown });
    for (const { io, step } of [usual, odd]) {
      step('snapshot', 123_456n);
      io.log('info', 'one');
      step('feed', 5n);
      vi.advanceTimersByTime(2_000);
    }
    expect(odd.stream.text).not.toContain('Infinity');
    expect(show(odd.stream.text, 80).map((line) => line.replace(/\d.*/u, ''))).toEqual(
      usual.screen().map((line) => line.replace(/\d.*/u, '')),
    );
  });

  it('shows the step and its rows at any width', () => {
    const progress: Progress = {
      step: 'land',
      part: 'snapshot',
      rows: 500_000n,
      totalRows: 1_000_000n,
      bytes: 12_300_000,
    };
    const widths = [undefined, 79, 70, 60, 50, 20].map((width) => formatProgress(progress, 10, width));
    expect(widths).toEqual([
      'land snapshot  ████████████░░░░░░░░░░░░ 50% 500,000/1,000,000 rows 12.3 MB 50,000 rows/s 10 s left',
      'land snapshot  ████░░░░ 50% 500,000/1,000,000 rows 50,000 rows/s 10 s left',
      'land snapshot  ████░░░░ 50% 500,000/1,000,000 rows 10 s left',
      'land snapshot  ████░░░░ 50% 500,000/1,000,000 rows 10 s left',
      'land snapshot  50% 500,000/1,000,000 rows',
      'land snapshot  50% 5',
    ]);
  });
});
