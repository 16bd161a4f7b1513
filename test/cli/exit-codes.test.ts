import { describe, expect, it } from 'vitest';
import { describeError, describeExits, exitCodeOf, fitError, formatError } from '../../src/cli/exit-codes.js';
import { toJsonText } from '../../src/cli/json-text.js';
import { PricelakeError } from '../../src/io/errors.js';

it('the exit code of a stop depends on the signal, and of any unexpected error it is 1', () => {
  expect(exitCodeOf(new PricelakeError('stopped', 'x', { signal: 'SIGINT' }))).toBe(130);
  expect(exitCodeOf(new PricelakeError('stopped', 'x', { signal: 'SIGTERM' }))).toBe(143);
  expect(exitCodeOf(new TypeError('x'))).toBe(1);
  expect(exitCodeOf('x')).toBe(1);
});

describe('an error', () => {
  const quota = new PricelakeError('quota', 'the month is\nused up', {
    hint: 'Wait.',
    docsUrl: 'https://docs.example/q',
    upgradeUrl: 'https://plans.example',
    nextRunAt: new Date('2026-12-01T00:00:00Z'),
    exportRows: 9007199254740993n,
  });

  it('handles a message of 250,000 spaces quickly', () => {
    const message = ' '.repeat(250_000);
    expect(new PricelakeError('usage', message).message).toBe(message);
  });

  it('is one line for people, followed by a next step', () => {
    expect(formatError(quota)).toBe(
      [
        'pricelake: the month is used up',
        '  → Wait.',
        '  next run: 2026-12-01T00:00:00.000Z',
        '  docs: https://docs.example/q',
        '  plans: https://plans.example',
      ].join('\n'),
    );
  });

  it('fits the terminal, except for an SQL excerpt, whose columns matter', () => {
    const hint = 'Name one of the columns that the table has.';
    const excerpt = `LINE 1: SELECT titel, price FROM items LIMIT 5\n${' '.repeat(15)}^`;
    const error = new PricelakeError('query', 'Referenced column "titel" is not there.', { hint, excerpt });
    expect(fitError(formatError(error), 30)).toBe(
      [
        'pricelake: Referenced column',
        '  "titel" is not there.',
        '  LINE 1: SELECT titel, price FROM items LIMIT 5',
        `  ${' '.repeat(15)}^`,
        '  → Name one of the columns',
        '    that the table has.',
      ].join('\n'),
    );
    expect(fitError(formatError(error), undefined)).toBe(formatError(error));
  });

  it('is listed with its exit code in lines of at most 80 columns', () => {
    for (const line of describeExits().split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });

  it('is one JSON object with further facts for programs', () => {
    expect(toJsonText(describeError(quota))).toBe(
      '{"ok":false,"error":{"code":"quota","message":"the month is used up","hint":"Wait.","docsUrl":"https://docs.example/q","upgradeUrl":"https://plans.example","nextRunAt":"2026-12-01T00:00:00.000Z","facts":{"exportRows":9007199254740993}}}',
    );
  });

  it('about a full disk or memory has its own code, wherever it comes from', () => {
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    expect(describeError(full)).toMatchObject({
      error: { code: 'disk_full', hint: expect.stringMatching(/Free some space/u) },
    });
    const memory = new Error('Out of Memory Error: could not allocate block of size 256.0 KiB (1.0 GiB/1.0 GiB used)');
    expect(describeError(memory)).toMatchObject({ error: { code: 'out_of_memory', hint: expect.any(String) } });
    expect(describeError(new Error('boom'))).toMatchObject({ error: { code: 'unexpected', message: 'boom' } });
  });
});
