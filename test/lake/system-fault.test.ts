import { expect, test } from 'vitest';
import { PricelakeError } from '../../src/io/errors.js';
import { explainDamage } from '../../src/lake/damage.js';
import { errorCodeOf } from '../../src/lake/faults.js';
import { explainSystemFault } from '../../src/lake/system-faults.js';

const systemError = (code: string, path: string) =>
  Object.assign(new Error(`${code}: refused, open '${path}'`), { code, path });
const explain = (error: unknown) =>
  explainSystemFault('/lake', () => explainDamage('/lake', () => Promise.reject(error))).catch(
    (reason: unknown) => reason,
  );

test.each([
  ['of a file', systemError('EMFILE', '/lake/items/a.parquet')],
  ['of a file in DuckDB', new Error('IO Error: Cannot open file "/lake/a.parquet": Too many open files')],
  [
    'of a connection',
    new PricelakeError(
      'unavailable',
      'GET /api/v1/plan: the service cannot be reached (EMFILE)',
      {},
      { cause: systemError('EMFILE', '') },
    ),
  ],
])('EMFILE %s is reported as open_files with a hint', async (_what, cause) => {
  const error = await explain(cause);
  expect(error).toMatchObject({ code: 'open_files', cause, facts: { hint: expect.stringContaining('ulimit -n') } });
});

test('EMFILE outside of a run is open_files too', () => {
  expect(errorCodeOf(systemError('EMFILE', 'a'))).toBe('open_files');
});

test('an error of the service is passed on unchanged', async () => {
  const refused = new PricelakeError('unavailable', 'no', {}, { cause: systemError('EACCES', '') });
  expect(await explain(refused)).toBe(refused);
});

test.each([
  [
    'disk_full',
    ['ENOSPC', 'EDQUOT'],
    ['No space left on device', 'Disk quota exceeded', 'raise max_temp_directory_size'],
  ],
  ['open_files', ['EMFILE', 'ENFILE'], ['Too many open files']],
  [
    'lake_read_only',
    ['EROFS', 'EACCES', 'EPERM'],
    ['Permission denied', 'Read-only file system', 'Operation not permitted'],
  ],
] as const)("%s is detected by system error codes and by DuckDB's messages", async (code, codes, texts) => {
  const errors = [
    ...codes.map((name) => new Error('work failed', { cause: systemError(name, '/lake/a') })),
    ...texts.map((text) => new Error(`IO Error: ${text}`)),
  ];
  for (const cause of errors) {
    expect(await explain(cause)).toMatchObject({
      code,
      message: expect.stringMatching(/^\/lake(?:\/a)?: .+/),
      cause,
      facts: { hint: expect.stringMatching(/ .+ /) },
    });
  }
});

test("a file that can't be written is named by its path, and any other fault by the lake", async () => {
  const nested = new Error('work failed', { cause: systemError('EACCES', '/lake/items/a.parquet') });
  expect(await explain(nested)).toMatchObject({
    message: "/lake/items/a.parquet: this user isn't allowed to read or write this path",
  });
  expect(await explain(systemError('ENOSPC', '/lake/items/a.parquet'))).toMatchObject({
    message: '/lake: no space left on the disk; published data is unaffected',
  });
});

test('errors of other kinds, texts and refusals are passed on unchanged', async () => {
  const connection = new PricelakeError('offline', 'no', {}, { cause: systemError('EMFILE', '') });
  for (const error of [systemError('EIO', 'a'), new Error('Binder Error'), 'permission denied', connection]) {
    expect(await explain(error)).toBe(error);
  }
});

test.each([
  'IO Error: No files found that match the pattern "/lake/items/a.parquet"',
  "Invalid Input Error: No magic bytes found at end of file '/lake/items/a.parquet'",
  'IO Error: Cannot open file "/lake/items/a.parquet": No such file or directory',
  'ZSTD Decompression failure',
  'TProtocolException: Invalid data',
  "Invalid Input Error: file '/lake/items/a.parquet' too small to be a Parquet file",
])("a data file that DuckDB can't read is reported as damage: %s", async (text) => {
  const cause = new Error(`  ${text}\nLINE 1: SELECT`);
  expect(await explain(cause)).toMatchObject({
    code: 'lake_invalid',
    message: `/lake: a data file is missing or damaged: ${text}`,
    cause,
    facts: { hint: expect.stringContaining('pricelake verify') },
  });
});

test('an error that already has a code is not reported as damage, whatever its text', async () => {
  for (const error of [new PricelakeError('config', 'No magic bytes found'), 'No magic bytes found', undefined]) {
    expect(await explain(error)).toBe(error);
  }
});
