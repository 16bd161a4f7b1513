import fs, { readFile, symlink, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { PricelakeError } from '../../src/io/errors.js';
import { Journal, readJournal } from '../../src/journal/journal.js';
import { readEntries } from '../../src/journal/read-entries.js';
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

const toText = (entry: RunEntry) =>
  JSON.stringify(entry, (_key, value) => (typeof value === 'bigint' ? String(value) : value));

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
  test('returns the appended entries, with exact int64 values', async () => {
    await write(BEGIN, page(9007199254740993n, 2));
    await write(page(9007199254741003n, 3));
    expect(await read()).toEqual([BEGIN, page(9007199254740993n, 2), page(9007199254741003n, 3)]);
    expect(await readFile(file, 'utf8')).toContain('"runNumber":"9007199254740993"');
  });

  // I6 of SPEC.md
  test('drops a last line that a crash cut off at any byte, and continues after the previous line', async () => {
    for (const entry of [BEGIN, page(0n, 2)]) await write(entry);
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

  const ZEROS = Buffer.alloc(64);
  const TAILS: [string, (lines: Buffer[]) => Buffer[]][] = [
    ['zeros', () => [ZEROS]],
    ['zeros and a newline', () => [ZEROS, Buffer.from('\n')]],
    ['junk with a newline', () => [Buffer.from([0xff, 0x7b, 0x0a, 0x80, 0x0a])]],
    ['an empty line', () => [Buffer.from('\n')]],
    ["JSON that isn't an entry", () => [Buffer.from('{"type":"party"}\n')]],
    ['an older line of the journal', ([first]) => [first as Buffer]],
    ['a line whose first half is zeros', ([, next]) => [ZEROS, (next as Buffer).subarray(64)]],
    ['two lines, the first of which is zeros', ([, next, last]) => [zeros(next), last as Buffer]],
    ['two lines, the first of which begins with zeros', ([, next, last]) => [ZEROS, cut(next), last as Buffer]],
    ['three lines, the first of which is zeros', ([, ...more]) => [zeros(more[0]), ...more.slice(1)]],
    ['a line and a half', ([, next, last]) => [next as Buffer, cut(last)].slice(1)],
  ];
  const zeros = (line: Buffer | undefined) => Buffer.concat([Buffer.alloc((line?.length ?? 0) - 1), Buffer.from('\n')]);
  const cut = (line: Buffer | undefined) => (line as Buffer).subarray(64);

  test.each(TAILS)('drops what a power failure can leave after its last synced line: %s', async (_what, makeTail) => {
    await write(BEGIN);
    const synced = await readFile(file);
    // One append of three lines, which weren't synced before the power failed.
    await write(page(0n, 2), page(10n, 3), page(20n, 4));
    const lines = (await readFile(file))
      .toString('utf8')
      .split(/(?<=\n)/)
      .map((line) => Buffer.from(line));
    await writeFile(file, Buffer.concat([synced, ...makeTail(lines)]));
    expect(await readJournal(file, LIST)).toEqual([BEGIN]);
    const logged: unknown[] = [];
    const journal = await Journal.open(file, LIST, { log: (...said) => void logged.push(said) });
    expect(journal.state).toEqual([BEGIN]);
    expect(logged).toEqual([['warn', 'journal.torn', { file, line: 2, bytes: expect.any(Number) }]]);
    await journal.append(page(0n, 2));
    await journal.close();
    expect(await read()).toEqual([BEGIN, page(0n, 2)]);
  });

  test.each([
    ['has an unknown type', { type: 'party' }],
    ['has an undocumented field', { type: 'end', at: 'x', more: 1 }],
    [
      'has an int64 as a number, which JSON readers round',
      { type: 'feed.done', cursor: 2 ** 53, complete: true, at: 'x', calls: 1 },
    ],
  ])('is refused with the line number if a line %s, even if its checksum is correct', async (_name, line) => {
    const text = sealLines([JSON.parse(toText(BEGIN)), line]);
    await writeFile(file, text);
    const error: PricelakeError = await read().then(
      () => expect.unreachable('it should have failed'),
      (error) => error,
    );
    expect(error.code).toBe('lake_invalid');
    expect(error.message).toBe(`${file}: line 2 contains data that this version doesn't recognize`);
    expect(error.facts.hint).toMatch(/newer version wrote it.*If it is damaged.*folder away/);
    expect(await readFile(file, 'utf8')).toBe(text);
  });

  test('refuses an altered, missing or moved line, because each line has a checksum over the lines before it', async () => {
    for (const entry of [BEGIN, page(0n, 2), page(10n, 3), page(20n, 4), page(30n, 5)]) await write(entry);
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
    for (const [line, what] of [
      ['oops', 'has no checksum'],
      [lines[2]?.replace(/,"sum":"\w+"/, ''), 'has no checksum'],
      [lines[2]?.replace(/"sum":"\w/, '"sum":"!'), 'has no checksum'],
      [lines[2]?.replace(/"sum":"\w{4}/, '"sum":"0000'), 'or one before it has changed since it was written'],
    ] as const) {
      await writeFile(file, [...lines.slice(0, 2), line, ...lines.slice(3)].join('\n'));
      const message = expect.stringContaining(`${file}: line 3 ${what}`);
      await expect(read()).rejects.toMatchObject({ code: 'lake_invalid', message, facts: { hint: START_AGAIN } });
    }
  });
});

describe('a journal on a failing disk', () => {
  beforeEach(() => {
    onTestFinished(mountFullDisk());
    onTestFinished(() => {
      disk.isFull = () => false;
    });
  });

  test.each([
    ['writes half of the lines', (name: string) => name === file],
    ["writes the lines but doesn't sync them", (name: string) => name === `${file}#sync`],
  ])(
    'that %s loses only the lines of each failed append, and continues after the previous line',
    async (_how, isFull) => {
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
    },
  );

  test("isn't touched if there is nothing to append", async () => {
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
  ])("is refused because %s; it doesn't count as empty, so that nothing is paid for twice", async (what, target) => {
    await symlink(target, file);
    const error = { code: 'lake_invalid', message: `${file}: ${what}`, facts: { hint: START_AGAIN } };
    await expect(readJournal(file, LIST)).rejects.toMatchObject(error);
    await expect(Journal.open(file, LIST)).rejects.toMatchObject(error);
  });

  test('is also refused if the user has no permission', async () => {
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

  test("is empty if it doesn't exist", async () => {
    expect(await readJournal(file, LIST)).toEqual([]);
  });
});

test('a journal of an earlier version is read, because its checksums are computed the same way', async () => {
  await writeFile(
    file,
    sealLines([
      { type: 'try', at: BEGIN.at },
      { type: 'calls', calls: 3, refused: 0 },
    ]),
  );
  expect(await read()).toHaveLength(2);
});

test('a closed journal keeps no file open', async () => {
  const journal = await Journal.open(file, LIST);
  expect(await listOpenFiles(path.dirname(file))).toEqual(['journal.ndjson']);
  const appended = journal.append(BEGIN);
  await journal.close();
  await appended;
  expect(await listOpenFiles(path.dirname(file))).toEqual([]);
  expect(await read()).toEqual([BEGIN]);
});

test.each([{ at: 'the line %j is refused as an entry' }, { type: 7 }, { type: 'try' }])(
  'a line %j is no entry',
  async (line) => {
    await writeFile(file, sealLines([line]));
    await expect(read()).rejects.toMatchObject({
      code: 'lake_invalid',
      message: `${file}: line 1 contains data that this version doesn't recognize`,
      facts: { hint: `If a newer version wrote it, continue with that version. If it is damaged: ${START_AGAIN}` },
    });
  },
);

test("an entry that the state doesn't allow is refused with file and line, when read or appended, and isn't written", async () => {
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

test('twenty thousand lines are folded in one pass, and a later append folds only its own entry', async () => {
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
