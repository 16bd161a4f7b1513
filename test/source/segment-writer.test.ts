import { createHash } from 'node:crypto';
import { type FileHandle, open, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Segment, writeSegments } from '../../src/source/segment-writer.js';
import { listOpenFiles, makeFolder } from '../journal/folder.js';
import { createSeeded } from '../seeded.js';

/** Splits `bytes` into chunks of the sizes that `next` returns. */
async function* chunk(bytes: Buffer, next: () => number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    const size = next();
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

const MIB = 1024 * 1024;

/** Options for segments in a folder, whose file names begin with `e-`. */
const optionsIn = (folder: string, more: Partial<Parameters<typeof writeSegments>[1]> = {}) => ({
  ...{ folder, prefix: 'e-', targetBytes: 10, announced: 100n },
  ...{ onBytes: () => {}, onSegment: async () => {}, ...more },
});

interface Written {
  segments: Segment[];
  texts: string[];
  total: { rows: bigint; bytes: number };
  /** The number of bytes reported through onBytes. */
  told: number;
}

async function write(bytes: Buffer, targetBytes: number, next: () => number): Promise<Written> {
  const folder = await makeFolder();
  const segments: Segment[] = [];
  const texts: string[] = [];
  let told = 0;
  const total = await writeSegments(chunk(bytes, next), {
    folder,
    prefix: 'export-1-',
    targetBytes,
    announced: 10_000_000n,
    onBytes: (count) => {
      told += count;
    },
    onSegment: async (segment) => {
      segments.push(segment);
      texts.push(await readFile(path.join(folder, segment.file), 'latin1'));
    },
  });
  expect((await readdir(folder)).sort()).toEqual(segments.map((segment) => segment.file));
  const sums = texts.map((text) => createHash('sha256').update(Buffer.from(text, 'latin1')).digest('hex'));
  expect(segments.map((segment) => segment.fileSha256)).toEqual(sums);
  return { segments, texts, total, told };
}

/** Replaces methods of all opened files until the test ends. */
async function replace(change: (real: Pick<FileHandle, 'write'>) => Partial<FileHandle>): Promise<void> {
  const probe = await open('/dev/null');
  const prototype = Object.getPrototypeOf(probe) as FileHandle;
  await probe.close();
  const { write, datasync } = prototype;
  Object.assign(prototype, change({ write }));
  onTestFinished(() => void Object.assign(prototype, { write, datasync }));
}

/** Records the sizes of all writes from now on. Each write takes `atMost` bytes. */
async function noteWrites(atMost = Number.POSITIVE_INFINITY): Promise<number[]> {
  const sizes: number[] = [];
  await replace(({ write }) => {
    const writeReal = write as (...bytes: [Buffer, number, number]) => unknown;
    async function writeSome(this: FileHandle, bytes: Buffer, offset = 0, length = bytes.length - offset) {
      sizes.push(length);
      return writeReal.call(this, bytes, offset, Math.min(atMost, length));
    }
    return { write: writeSome as unknown as FileHandle['write'] };
  });
  return sizes;
}

/** The number of lines that contain more than white space. */
function countLines(text: string): number {
  return text.split('\n').filter((line) => !/^[ \t\r]*$/.test(line)).length;
}

const BODIES: Record<string, string> = {
  'plain lines': '{"id":1}\n{"id":22}\n{"id":333}\n',
  'no last newline': '{"id":1}\n{"id":22}\n{"id":333}',
  CRLF: '{"id":1}\r\n{"id":22}\r\n{"id":333}\r\n',
  'CRLF without the last': '{"id":1}\r\n{"id":22}',
  'blank lines': '\n\n{"id":1}\n\n\n{"id":22}\n\n',
  'blank lines with CRLF': '\r\n{"id":1}\r\n\r\n\r\n{"id":22}\r\n\r\n',
  'lines of white space': ' \n{"id":1}\n\t \r\n{"id":22} \n\r\r\n   ',
  'a lone carriage return at the end': '{"id":1}\n\r',
  'one long line': `{"id":1,"title":"${'x'.repeat(100)}"}`,
  'letters of several bytes': '{"t":"äöü"}\n{"t":"😀😀"}\n{"t":"ß"}\n',
  'one-letter lines': 'a\nb\r\nc\n\r\nd',
};

describe('segments', () => {
  test.each(Object.keys(BODIES))(
    'of %s contain complete lines and count their rows, for any chunk sizes',
    async (name) => {
      const bytes = Buffer.from(BODIES[name] as string);
      const random = createSeeded(21);
      const chunkings = [() => 1, () => 2, () => 3, () => 7, () => bytes.length, () => 1 + random.integer(12)];
      for (const next of chunkings) {
        for (const targetBytes of [1, 10, 25, 1000]) {
          const { segments, texts, total, told } = await write(bytes, targetBytes, next);
          expect(texts.join('')).toBe(bytes.toString('latin1'));
          for (const text of texts.slice(0, -1)) expect(text.endsWith('\n')).toBe(true);
          expect(segments.map((segment) => segment.rows)).toEqual(texts.map(countLines));
          expect(segments.map((segment) => segment.bytes)).toEqual(texts.map((text) => text.length));
          const rows = countLines(bytes.toString('latin1'));
          expect(total).toEqual({ rows: BigInt(rows), bytes: bytes.length });
          expect(told).toBe(bytes.length);
        }
      }
    },
  );

  test('end at the first line end after the target size', async () => {
    const line = '{"id":1}\n';
    const { segments } = await write(Buffer.from(line.repeat(100)), 90, () => 9);
    expect(segments).toHaveLength(10);
    expect(segments.every((segment) => segment.bytes === 90 && segment.rows === 10)).toBe(true);
    expect(segments.map((segment) => segment.file).slice(0, 2)).toEqual([
      'export-1-00001.ndjson',
      'export-1-00002.ndjson',
    ]);
  });

  test('are written one mebibyte at a time, and the last bytes when the segment ends', async () => {
    const bytes = Buffer.from(`${'x'.repeat(99)}\n`.repeat(30_000));
    const sizes = await noteWrites();
    await write(bytes, 2_000_000, () => 1000);
    expect(sizes).toEqual([MIB, 2_000_000 - MIB, 1_000_000]);
  });

  test('contain every byte once, even if a chunk is much larger than a write', async () => {
    const random = createSeeded(22);
    const text = random.text('abcdefghijklmno\n', 7000).repeat(500);
    const [bytes, rows] = [Buffer.from(text), BigInt(countLines(text))];
    for (const size of [MIB - 1, MIB, MIB + 1, 3 * MIB]) {
      for (const targetBytes of [MIB, 10 * MIB]) {
        const { segments, texts, total } = await write(bytes, targetBytes, () => size);
        expect(texts.join('') === text).toBe(true);
        expect(segments.map((segment) => segment.bytes)).toEqual(texts.map((one) => one.length));
        expect(total).toEqual({ rows, bytes: bytes.length });
      }
    }
  });

  test("don't exist for an empty body", async () => {
    const { segments, total } = await write(Buffer.alloc(0), 10, () => 1);
    expect(segments).toEqual([]);
    expect(total).toEqual({ rows: 0n, bytes: 0 });
  });

  test("don't exist for a body of empty chunks", async () => {
    const folder = await makeFolder();
    async function* body() {
      yield Buffer.alloc(0);
    }
    expect(await writeSegments(body(), optionsIn(folder))).toEqual({ rows: 0n, bytes: 0 });
    expect(await readdir(folder)).toEqual([]);
  });

  test("of an earlier process are removed first, because the journal doesn't list them", async () => {
    const folder = await makeFolder();
    await writeFile(path.join(folder, 'e-00001.ndjson'), 'old');
    await writeFile(path.join(folder, 'f-00001.ndjson'), 'of another attempt');
    await writeSegments(
      chunk(Buffer.from('new\n'), () => 4),
      optionsIn(folder),
    );
    expect(await readFile(path.join(folder, 'e-00001.ndjson'), 'utf8')).toBe('new\n');
    expect(await readFile(path.join(folder, 'f-00001.ndjson'), 'utf8')).toBe('of another attempt');
  });

  test('that are finished are kept if the body breaks off, and the error is thrown', async () => {
    const folder = await makeFolder();
    const landed: Segment[] = [];
    async function* body() {
      yield Buffer.from('1234567890\n');
      yield Buffer.from('12345');
      throw new Error('the line is dead');
    }
    const onSegment = async (segment: Segment) => void landed.push(segment);
    await expect(writeSegments(body(), optionsIn(folder, { onSegment }))).rejects.toThrow('the line is dead');
    expect(landed).toMatchObject([{ file: 'e-00001.ndjson', bytes: 11, rows: 1 }]);
  });

  test('are handed over in order, and a failure there is thrown and leaves no file open', async () => {
    const folder = await makeFolder();
    const onSegment = async ({ file }: Segment) => {
      if (file === 'e-00002.ndjson') throw new Error('the journal is full');
    };
    const body = chunk(Buffer.from('1\n2\n3\n4\n'), () => 2);
    await expect(writeSegments(body, optionsIn(folder, { targetBytes: 1, onSegment }))).rejects.toThrow(
      'the journal is full',
    );
    expect(await listOpenFiles(folder)).toEqual([]);
  });
});

describe('segments of CSV', () => {
  test("each begin with the header, which isn't counted, and contain every record once", async () => {
    const folder = await makeFolder();
    const segments: Segment[] = [];
    const records = ['1,"a\nb"', '2,c', '3,"d""e"', '4,f'];
    const body = chunk(Buffer.from(['id,t', ...records, ''].join('\n')), () => 5);
    const onSegment = async (one: Segment) => void segments.push(one);
    const total = await writeSegments(
      body,
      optionsIn(folder, { format: 'csv', targetBytes: 6, announced: 4n, onSegment }),
    );
    const texts = await Promise.all(segments.map(({ file }) => readFile(path.join(folder, file), 'utf8')));
    expect(texts.length).toBeGreaterThan(2);
    for (const text of texts) expect(text.startsWith('id,t\n')).toBe(true);
    expect(texts.map((text) => text.slice('id,t\n'.length)).join('')).toBe(`${records.join('\n')}\n`);
    expect(segments.reduce((rows, one) => rows + one.rows, 0)).toBe(4);
    expect(total.rows).toBe(4n);
  });
});

describe('on a failing disk', () => {
  test('writes that accept only part of the bytes are repeated until all are written', async () => {
    const writes = await noteWrites(3);
    const bytes = Buffer.from('{"id":1}\n{"id":22}\n{"id":333}\n');
    const { texts, segments } = await write(bytes, 12, () => 20);
    expect(texts.join('')).toBe(bytes.toString());
    expect(segments.map(({ bytes }) => bytes)).toEqual(texts.map((text) => text.length));
    expect(writes.length).toBeGreaterThan(10);
  });

  test("a segment that can't be synced is an error, isn't handed over, and leaves no file open", async () => {
    const folder = await makeFolder();
    const landed: Segment[] = [];
    const datasync = () => Promise.reject(Object.assign(new Error('EIO: fdatasync'), { code: 'EIO' }));
    await replace(() => ({ datasync }));
    const body = chunk(Buffer.from('1\n2\n3\n4\n'), () => 2);
    const onSegment = async (one: Segment) => void landed.push(one);
    await expect(writeSegments(body, optionsIn(folder, { targetBytes: 1, onSegment }))).rejects.toMatchObject({
      code: 'EIO',
    });
    expect(landed).toEqual([]);
    expect(await listOpenFiles(folder)).toEqual([]);
  });
});
