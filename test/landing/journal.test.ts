import { appendFile, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { PricelakeError } from '../../src/errors.js';
import { Journal } from '../../src/landing/journal.js';
import type { JournalEntry } from '../../src/landing/journal-entry.js';
import { makeFolder } from './folder.js';

const BEGIN = {
  type: 'begin',
  runNumber: 9007199254740993n,
  runId: 'run-1',
  at: '2026-11-20T06:00:00.000Z',
  pipeline: 'prices',
  cursorFrom: 9223372036854775807n,
} as const satisfies JournalEntry;
const page = (after: bigint, calls: number): JournalEntry => ({
  type: 'feed.page',
  after,
  nextCursor: after + 10n,
  hasMore: true,
  rows: 10,
  end: 100,
  calls,
});

let file: string;
beforeEach(async () => {
  file = path.join(await makeFolder(), 'journal.ndjson');
});

async function write(...entries: JournalEntry[]): Promise<void> {
  const journal = await Journal.open(file);
  await journal.append(...entries);
  await journal.close();
}

async function read(): Promise<JournalEntry[]> {
  const journal = await Journal.open(file);
  await journal.close();
  return journal.entries;
}

describe('a journal', () => {
  test('gives back what was appended, int64 exact', async () => {
    await write(BEGIN, page(9007199254740993n, 2));
    await write(page(9007199254741003n, 3));
    expect(await read()).toEqual([BEGIN, page(9007199254740993n, 2), page(9007199254741003n, 3)]);
    expect(await readFile(file, 'utf8')).toContain('"runNumber":"9007199254740993"');
  });

  test('tells the entries of a type apart, and the last of them', async () => {
    await write(BEGIN, page(0n, 2), page(10n, 3));
    const journal = await Journal.open(file);
    expect(journal.all('feed.page').map((entry) => entry.after)).toEqual([0n, 10n]);
    expect(journal.last('feed.page')?.calls).toBe(3);
    expect(journal.last('feed.done')).toBeUndefined();
    await journal.close();
  });

  test('counts the calls of each process that worked on the run by its last count', async () => {
    await write(BEGIN, page(0n, 2), page(10n, 5), { type: 'try', at: BEGIN.at }, page(20n, 1), page(30n, 4));
    const journal = await Journal.open(file);
    expect(journal.countCalls()).toBe(9);
    await journal.close();
  });

  test('loses a last line that a crash cut short, wherever it was cut, and goes on behind the one before', async () => {
    await write(BEGIN, page(0n, 2));
    const whole = await readFile(file);
    const firstLine = whole.indexOf(0x0a) + 1;
    for (let end = firstLine; end < whole.length; end++) {
      await writeFile(file, whole.subarray(0, end));
      expect(await read()).toEqual([BEGIN]);
      expect(await readFile(file)).toEqual(whole.subarray(0, firstLine));
    }
    await write(page(0n, 2));
    expect(await readFile(file)).toEqual(whole);
  });

  test('loses the zeros that a power cut can leave behind its end', async () => {
    await write(BEGIN);
    await appendFile(file, Buffer.alloc(64));
    await write(page(0n, 2));
    expect(await read()).toEqual([BEGIN, page(0n, 2)]);
  });

  test.each([
    ['is no JSON', 'oops', /^is damaged$/, /^move this/],
    ['is of an unknown type', '{"type":"party"}', /does not know$/, /newer version wrote it/],
    ['has a field too many', '{"type":"end","at":"x","more":1}', /does not know$/, /newer version wrote it/],
    [
      'has an int64 as a number, which JSON readers round',
      '{"type":"feed.done","cursor":9007199254740993,"calls":1}',
      /does not know$/,
      /or it is damaged/,
    ],
  ])('in which a line %s is refused by its number', async (_name, line, what, hint) => {
    await write(BEGIN);
    await appendFile(file, `${line}\n`);
    const error: PricelakeError = await read().then(
      () => expect.unreachable('it should have failed'),
      (error) => error,
    );
    expect(error.code).toBe('lake_invalid');
    expect(error.message.split(`${file}: line 2 `)).toEqual(['', expect.stringMatching(what)]);
    expect(error.facts.hint).toMatch(hint);
    expect(error.facts.hint).toContain('folder away');
    expect(await readFile(file, 'utf8')).toContain(line);
  });

  test('refuses a line that was altered, and one that was taken away, by the checksums of its lines', async () => {
    await write(BEGIN, page(0n, 2), page(10n, 3), page(20n, 4));
    const text = await readFile(file, 'utf8');
    const lines = text.split('\n');
    for (const damaged of [
      text.replace('"rows":10', '"rows":11'),
      [lines[0], ...lines.slice(2)].join('\n'),
      [lines[0], lines[2], lines[1], ...lines.slice(3)].join('\n'),
    ]) {
      await writeFile(file, damaged);
      await expect(read()).rejects.toMatchObject({
        code: 'lake_invalid',
        message: expect.stringContaining('is not as it was written'),
      });
    }
    // Journals of the version before have no checksums.
    await writeFile(file, text.replaceAll(/,"sum":"\w+"/g, ''));
    expect(await read()).toEqual([BEGIN, page(0n, 2), page(10n, 3), page(20n, 4)]);
    await write(page(30n, 5));
    expect(await read()).toHaveLength(5);
  });
});
