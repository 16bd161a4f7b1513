import { expect, test } from 'vitest';
import { errorCodeOf, exitCodeOf } from '../../src/cli/exit-codes.js';
import { PricelakeError } from '../../src/errors/errors.js';
import { explainDamage } from '../../src/lake/damage.js';
import { explainSystemFault } from '../../src/lake/system-fault.js';

const systemError = (code: string, path: string) =>
  Object.assign(new Error(`${code}: refused, open '${path}'`), { code, path });
const explain = (error: unknown) =>
  explainSystemFault('/lake', () => explainDamage('/lake', () => Promise.reject(error))).catch(
    (reason: unknown) => reason,
  );

test.each([
  ['a read-only file system', systemError('EROFS', '/lake/_pricelake/tmp')],
  ['a folder of another user', systemError('EACCES', '/lake/_pricelake/tmp')],
  ['one that DuckDB may not write', new Error('IO Error: Cannot open file "/lake/a.parquet": Permission denied')],
])('a lake on %s is lake_read_only, with a hint', async (_what, cause) => {
  const error = await explain(cause);
  expect(error).toMatchObject({
    code: 'lake_read_only',
    cause,
    facts: { hint: expect.stringContaining('owns the folder') },
  });
  expect((error as Error).message).toMatch(/^\/lake.*: the lake can be read, but not written$/);
  expect(exitCodeOf(error)).toBe(2);
});

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
])('EMFILE %s is open_files, with a hint', async (_what, cause) => {
  const error = await explain(cause);
  expect(error).toMatchObject({ code: 'open_files', cause, facts: { hint: expect.stringContaining('ulimit -n') } });
});

test('EMFILE outside of runs is open_files as well', () => {
  expect(errorCodeOf(systemError('EMFILE', 'a'))).toBe('open_files');
});

test('an error of the service is left as it is', async () => {
  const refused = new PricelakeError('unavailable', 'no', {}, { cause: systemError('EACCES', '') });
  expect(await explain(refused)).toBe(refused);
});
