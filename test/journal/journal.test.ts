import fs, { appendFile, readFile, symlink, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { PricelakeError } from '../../src/io/errors.js';
import { Journal, readEntries, readJournal } from '../../src/journal/journal.js';
import type { RunEntry } from '../../src/journal/run-entry.js';
import { RUN_FOLD, START_AGAIN } from '../../src/journal/run-state.js';
import { disk, mountFullDisk } from '../run/full-disk.js';
import { listOpenFiles, makeFolder } from './folder.js';
import { LIST, sealLines } from './list-fold.js';

const BEGIN = {
  type: 'begin',
  runNumber: 9007199254740993n,
  runId: 'run-1',
  at: '2026-11-20T06:00:00.000Z',
  pipeline: 'prices',
  cursorFrom: 9223372036854775807n,
} as const satisfies RunEntry;
const page = (after: bigint, calls: number): RunEntry => ({
  type: 'feed.page',
  after,
  nextCursor: after + 10n,
  hasMore: true,
  rows: 10,
  end: 100,
  calls,
  sha256: 'a',
});

let file: string;
beforeEach(async () => {
  file = path.join(await makeFolder(), 'journal.ndjson');
});

async function write(...entries: RunEntry[]): Promise<void> {
  const journal = await Journal.open(file, LIST);
  await journal.append(...entries);
  await journal.close();
}

async function read(): Promise<RunEntry[]> {
  const journal = await Journal.open(file, LIST);
  await journal.close();
  return [...journal.state];
}

describe('a journal', () => {
  test('gives back what was appended, int64 exact', async () => {
    await write(BEGIN, page(9007199254740993n, 2));
    await write(page(9007199254741003n, 3));
    expect(await read()).toEqual([BEGIN, page(9007199254740993n, 2), page(9007199254741003n, 3)]);
    expect(await readFile(file, 'utf8')).toContain('"runNumber":"9007199254740993"');
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
    ['is of an unknown type', '{"type":"party"}', /that this version doesn't know$/, /newer version wrote it/],
    [
      'has a field too many',
      '{"type":"end","at":"x","more":1}',
      /that this version doesn't know$/,
      /newer version wrote it/,
    ],
    [
      'has an int64 as a number, which JSON readers round',
      '{"type":"feed.done","cursor":9007199254740993,"calls":1}',
      /that this version doesn't know$/,
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
        message: expect.stringContaining('has changed since it was written'),
        facts: { hint: START_AGAIN },
      });
    }
    await writeFile(file, text.replace(/,"sum":"\w+"\}\n$/, '}\n'));
    await expect(read()).rejects.toMatchObject({ code: 'lake_invalid', message: `${file}: line 4 has no checksum` });
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
    const journal = await Journal.open(file, LIST);
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
    expect(journal.state).toEqual(entries);
    expect(await read()).toEqual(entries);
  });

  test('is not touched when there is nothing to append', async () => {
    const journal = await Journal.open(file, LIST);
    disk.isFull = () => true;
    await journal.append();
    await journal.close();
  });
});

describe('a journal that cannot be read', () => {
  test.each([
    ["the disk can't read it", '/proc/self/mem'],
    ['it is a broken link', 'journal.ndjson'],
    ['it is a folder', '.'],
  ])('(%s) is no empty journal: paid work is not begun again', async (what, target) => {
    await symlink(target, file);
    const error = { code: 'lake_invalid', message: `${file}: ${what}`, facts: { hint: START_AGAIN } };
    await expect(readJournal(file, LIST)).rejects.toMatchObject(error);
    await expect(Journal.open(file, LIST)).rejects.toMatchObject(error);
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
    await expect(readJournal(file, LIST)).rejects.toMatchObject({
      message: `${file}: this user has no permission to read it`,
      facts: { hint: 'Run as the user that owns the lake.' },
    });
  });

  test('because there is none is empty', async () => {
    expect(await readJournal(file, LIST)).toEqual([]);
  });
});

test('a journal that earlier versions wrote is read: its checksums are made alike', async () => {
  await writeFile(
    file,
    sealLines([
      { type: 'try', at: BEGIN.at },
      { type: 'calls', calls: 3, refused: 0 },
    ]),
  );
  expect(await read()).toHaveLength(2);
});

test('a journal that is closed holds no file open', async () => {
  const journal = await Journal.open(file, LIST);
  expect(await listOpenFiles(path.dirname(file))).toEqual(['journal.ndjson']);
  const appended = journal.append(BEGIN);
  await journal.close();
  await appended;
  expect(await listOpenFiles(path.dirname(file))).toEqual([]);
  expect(await read()).toEqual([BEGIN]);
});

test.each(['null', '7', '[]', '{}', '{"type":7}', '"try"'])('a line %s is no entry', async (line) => {
  await writeFile(file, `${line}\n`);
  await expect(read()).rejects.toMatchObject({
    code: 'lake_invalid',
    message: `${file}: line 1 has something that this version doesn't know`,
    facts: { hint: `If a newer version wrote it, continue with that version. If it is damaged: ${START_AGAIN}` },
  });
});

test('an entry that the state does not allow is refused by file and line, read or appended, and not written', async () => {
  const end = { type: 'end', at: BEGIN.at } as const;
  const error = {
    code: 'lake_invalid',
    message: `${file}: line 2: end can't follow: the run is begun`,
    facts: { hint: START_AGAIN },
  };
  await write(BEGIN, end);
  await expect(readJournal(file, RUN_FOLD)).rejects.toMatchObject(error);
  await writeFile(file, '');
  await write(BEGIN);
  const journal = await Journal.open(file, RUN_FOLD);
  await expect(journal.append({ type: 'try', at: BEGIN.at }, end)).rejects.toMatchObject({
    ...error,
    message: `${file}: line 3: end can't follow: the run is begun`,
  });
  expect(journal.state.calls.tries).toBe(1);
  await journal.append(page(0n, 2));
  expect(journal.state.stage).toBe('asked');
  await journal.close();
  expect(await readEntries(file, RUN_FOLD)).toEqual([BEGIN, page(0n, 2)]);
});

test('twenty thousand lines fold in one pass, and an append costs no more behind them', async () => {
  const entries = Array.from({ length: 20_000 }, (_, n) => page(BigInt(n * 10), n));
  await write(BEGIN, ...entries.slice(0, 10));
  let steps = 0;
  const counting = {
    ...RUN_FOLD,
    step: (...args: Parameters<typeof RUN_FOLD.step>) => {
      steps++;
      return RUN_FOLD.step(...args);
    },
  };
  const journal = await Journal.open(file, counting);
  await journal.append(...entries.slice(10));
  expect(steps).toBe(20_001);
  await journal.append(page(200_000n, 7));
  expect(steps).toBe(20_002);
  expect(journal.state.feed).toMatchObject({ changes: 200_010, starts: [0n] });
  await journal.close();
});
