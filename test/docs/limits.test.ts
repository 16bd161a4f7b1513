import { expect, test } from 'vitest';
import { DEFAULT_TIMEOUTS } from '../../src/api/transport.js';
import { LIMITS } from '../../src/io/limits.js';
import { readAnswersTable } from './answers-table.js';

const MIB = 1024 * 1024;
const { lineBytes, baseBytes, bytesARow, reserveBytes, workShare, stepBytes } = LIMITS.export;

test('the table of limits in the documentation has the figures of the code', () => {
  const table = readAnswersTable('limited quantity');
  const row = (name: string) => table.find(([what = '']) => what.startsWith(name))?.[1];
  expect(row('time until the headers')).toContain(`${DEFAULT_TIMEOUTS.headersMs / 1000} s`);
  expect(row('time of a JSON response')).toBe(`${LIMITS.jsonBodyMs / 1000} s`);
  expect(row('size and depth')).toBe(`${LIMITS.pageBytes / MIB} MiB; ${LIMITS.jsonDepth} levels of nesting`);
  const { minBytes, windowMs } = LIMITS.exportPace;
  const pause = DEFAULT_TIMEOUTS.stallMs / 1000;
  expect(row('speed of')).toBe(
    `at least ${minBytes / 1024} KiB in each ${windowMs / 1000} s of waiting, without a pause of ${pause} s`,
  );
  expect(row('bytes of an export')).toBe(`${baseBytes / MIB} MiB plus ${bytesARow / 1024} KiB per row`);
  expect(row('a line')).toBe(`${lineBytes / MIB} MiB`);
  expect(row('a row')).toContain(`${LIMITS.rowBytes / MIB} MiB`);
  expect(workShare).toBe(0.5);
  expect(row('free space')).toBe(
    `${reserveBytes / MIB} MiB plus half of the landed bytes, checked every ${stepBytes / MIB} MiB`,
  );
  expect(row('pages of the feed without')).toContain(`${LIMITS.emptyPages} in a row`);
  const { freePages, changesAPage } = LIMITS.feedPace;
  expect(row('pages of the feed with few')).toContain(`${freePages} plus one for each ${changesAPage} changes`);
  expect(row('a feed that grows')).toContain(`${LIMITS.longFeedPages}th page`);
});
