import { expect, test } from 'vitest';
import { explainTooLarge, LATE } from '../../src/explore/too-large.js';
import { PricelakeError } from '../../src/io/errors.js';

const late = new PricelakeError('query', 'this took longer than 30 seconds and was stopped', {
  hint: 'Query less at once, or use `pricelake query`.',
  [LATE]: true,
});
const memory = new Error('Out of Memory Error: could not allocate block (1.0 GiB/1.0 GiB used)\nPossible solutions:');

test.each([late, memory])('%s says where an analysis can run', (error) => {
  const explained = explainTooLarge(error, 'price_index') as PricelakeError;
  expect(explained).toMatchObject({ code: 'query', message: error.message.split('\n')[0] });
  expect(explained.facts.hint).toMatch(
    /or run it on a Spark cluster: pricelake query --engine spark --analysis price_index\.$/u,
  );
});

test('an analysis that Spark has no query for, and any other error, stays as it is', () => {
  const other = new PricelakeError('query', 'Binder Error: no such column');
  expect(explainTooLarge(late, 'find_products')).toBe(late);
  expect(explainTooLarge(memory, 'offers')).toBe(memory);
  expect(explainTooLarge(other, 'price_index')).toBe(other);
});
