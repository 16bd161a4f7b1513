import { createHash } from 'node:crypto';
import fs, { appendFile, readFile, symlink, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { PricelakeError } from '../../src/errors/errors.js';
import { Journal, JournalEntries } from '../../src/landing/journal.js';
import type { JournalEntry } from '../../src/landing/journal-entry.js';
import { START_AGAIN } from '../../src/landing/journal-line.js';
import { foldProgress } from '../../src/landing/run-progress.js';
import { disk, mountFullDisk } from '../sync/full-disk.js';
import { listOpenFiles, makeFolder } from './folder.js';

const BEGIN = {
  type: 'begin',
  runNumber: 9007199254740993n,
  runId: 'run-1',
  at: '2026-11-20T06:00:00.000Z',
  pipeline: 'prices',
  cursorFrom: 9223372036854775807n,
} as const satisfies JournalEntry;
/** As its line has it. */
const BEGIN_LINE = { ...BEGIN, runNumber: '9007199254740993', cursorFrom: '9223372036854775807' };
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
    await write(BEGIN, page(0n, 2), page(10n, 3), page(20n, 4));
    const journal = await Journal.open(file);
    expect(journal.all('feed.page').map((entry) => entry.after)).toEqual([0n, 10n, 20n]);
    expect(journal.last('feed.page')?.calls).toBe(4);
    expect(journal.last('feed.done')).toBeUndefined();
    await journal.close();
  });

  test('counts the calls of each process that worked on the run by its last count', async () => {
    await write(BEGIN, page(0n, 2), page(10n, 5), { type: 'try', at: BEGIN.at }, page(20n, 1), page(30n, 4));
    const journal = await Journal.open(file);
    expect(foldProgress(journal.entries).calls).toBe(9);
    await journal.close();
  });

  // I6 of SPEC.md
  test('loses a last line that a crash cut short, wherever it was cut, and continues behind the one before', async () => {
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
    ['is no JSON', 'oops', /^is damaged$/, /^Move this/],
    ['is of an unknown type', '{"type":"party"}', /does not know$/, /newer version wrote it/],
    ['has a field too many', '{"type":"end","at":"x","more":1}', /does not know$/, /newer version wrote it/],
    [
      'has an int64 as a number, which JSON readers round',
      '{"type":"feed.done","cursor":9007199254740993,"calls":1}',
      /does not know$/,
      /If it is damaged/,
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
        facts: { hint: START_AGAIN },
      });
    }
    // Journals of the version before have no checksums.
    await writeFile(file, text.replaceAll(/,"sum":"\w+"/g, ''));
    expect(await read()).toEqual([BEGIN, page(0n, 2), page(10n, 3), page(20n, 4)]);
    await write(page(30n, 5));
    expect(await read()).toHaveLength(5);
  });
});

describe('a journal on a disk that fails', () => {
  beforeEach(() => {
    onTestFinished(mountFullDisk());
    onTestFinished(() => {
      disk.isFull = () => false;
    });
  });

  test.each([
    ['takes half of the lines', (name: string) => name === file],
    ['takes the lines and does not sync them', (name: string) => name === `${file}#sync`],
  ])('that %s loses those of each failed append alone, and goes on behind the one before', async (_how, isFull) => {
    const journal = await Journal.open(file);
    await journal.append(BEGIN);
    await journal.append(page(0n, 2));
    for (let round = 0n; round < 2n; round++) {
      disk.isFull = isFull;
      await expect(journal.append(page(10n + round, 3))).rejects.toThrow('ENOSPC');
      disk.isFull = () => false;
      await journal.append(page(20n + round, 4));
    }
    await journal.close();
    const entries = [BEGIN, page(0n, 2), page(20n, 4), page(21n, 4)];
    expect(journal.entries).toEqual(entries);
    expect(await read()).toEqual(entries);
  });

  test('is not touched when there is nothing to append', async () => {
    const journal = await Journal.open(file);
    disk.isFull = () => true;
    await journal.append();
    await journal.close();
  });
});

describe('a journal that cannot be read', () => {
  test.each([
    ['the disk fails to read it', '/proc/self/mem'],
    ['it is a link that leads nowhere', 'journal.ndjson'],
    ['it is a folder', '.'],
  ])('(%s) is no empty journal: paid work is not begun again', async (what, target) => {
    await symlink(target, file);
    const error = { code: 'lake_invalid', message: `${file}: ${what}`, facts: { hint: START_AGAIN } };
    await expect(JournalEntries.read(file)).rejects.toMatchObject(error);
    await expect(Journal.open(file)).rejects.toMatchObject(error);
  });

  test('because nobody may is no empty journal either', async () => {
    const { readFile: readReal } = fs;
    const refuse = async () => {
      throw Object.assign(new Error('EACCES: permission denied, open'), { code: 'EACCES' });
    };
    Object.assign(fs, { readFile: refuse });
    syncBuiltinESMExports();
    onTestFinished(() => {
      Object.assign(fs, { readFile: readReal });
      syncBuiltinESMExports();
    });
    await expect(JournalEntries.read(file)).rejects.toMatchObject({
      message: `${file}: this user may not read it`,
      facts: { hint: 'Run as the user that owns the lake.' },
    });
  });

  test('because there is none is empty', async () => {
    expect((await JournalEntries.read(file)).entries).toEqual([]);
  });
});

test('calls are counted over lines that tell none, and with those of backfills that were taken over', async () => {
  const item: JournalEntry = { type: 'backfill.item', itemId: 1n, rows: 1, end: 10 };
  await write(BEGIN, page(0n, 2), item, { ...item, calls: 7 }, item, { type: 'backfill', rows: 1, bytes: 10 });
  expect(foldProgress((await JournalEntries.read(file)).entries).calls).toBe(7);
  await write({ type: 'backfill', rows: 1, bytes: 10, made: 5 });
  const journal = await Journal.open(file);
  await journal.append({ ...item, calls: undefined });
  expect(foldProgress(journal.entries).calls).toBe(12);
  await journal.close();
});

test('a journal that earlier versions wrote is read: its checksums are made alike', async () => {
  const lines = ['{"type":"try","at":"2026-11-20T06:00:00.000Z"}', '{"type":"calls","calls":3}'];
  let sum = '';
  const texts = lines.map((line) => {
    sum = createHash('sha256').update(`${sum}${line}`).digest('hex').slice(0, 16);
    return `${line.slice(0, -1)},"sum":"${sum}"}\n`;
  });
  await writeFile(file, texts.join(''));
  expect(await read()).toHaveLength(2);
});

test('a journal that nobody wrote has no entries', () => {
  expect(JournalEntries.none().entries).toEqual([]);
});

test('a journal that is closed holds no file open', async () => {
  const journal = await Journal.open(file);
  expect(await listOpenFiles(path.dirname(file))).toEqual(['journal.ndjson']);
  const appended = journal.append(BEGIN);
  await journal.close();
  await appended;
  expect(await listOpenFiles(path.dirname(file))).toEqual([]);
  expect(await read()).toEqual([BEGIN]);
});

test('calls that were refused are counted process by process, and are none where nobody told', async () => {
  const calls = (refused?: number): JournalEntry => ({
    type: 'calls',
    calls: 9,
    ...(refused === undefined ? {} : { refused }),
  });
  await write(
    BEGIN,
    calls(),
    { type: 'try', at: BEGIN.at },
    calls(2),
    calls(3),
    { type: 'try', at: BEGIN.at },
    calls(4),
  );
  expect(foldProgress((await JournalEntries.read(file)).entries).refused).toBe(7);
  expect(foldProgress((await JournalEntries.read(file)).entries).calls).toBe(27);
});

test('entries that older versions wrote under other names are read as what they are', async () => {
  const at = '2026-11-20T06:00:00.000Z';
  const fence = { type: 'fence', cursor: '7', changedAt: at, items: '3', at, calls: 2 };
  const passed = { type: 'let_through', at, checks: ['few'] };
  await writeFile(file, [BEGIN_LINE, fence, passed].map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  expect((await read()).map(({ type }) => type)).toEqual(['begin', 'watermark', 'waived']);
});
