import { describe, expect, it } from 'vitest';
import { explainCheckError } from '../../src/check/check.js';

const explain = (cause: unknown) =>
  explainCheckError({ file: 'own.sql', sql: "FROM items WHERE title <> 'items'" }, cause);

describe('an error in the SQL of a check', () => {
  it.each([
    [
      'Binder Error: no column "a"\nDid you mean\n  "b"?\n\nLINE 12: SELECT a\n               ^',
      ':12',
      'Binder Error: no column "a" Did you mean "b"?',
    ],
    ['Failed to extract statements: Parser Error: near "y"\n\nLINE 2: FORM x', ':2', 'Parser Error: near "y"'],
    ["Conversion Error: 'IO Error' is no number", '', "Conversion Error: 'IO Error' is no number"],
    ['Out of Range Error: no Permission Error', '', 'Out of Range Error: no Permission Error'],
  ])('is reported with the file and the line: %j', (message, line, reason) => {
    const cause = new Error(message);
    const told = explain(cause);
    expect(told).toMatchObject({ code: 'config', message: `own.sql${line}: can't run the check: ${reason}` });
    expect(told).toHaveProperty('cause', cause);
  });

  it('reports a file that contains no SQL', () => {
    const cause = new Error('Error in native callback');
    expect(explain(cause)).toMatchObject({ code: 'config', message: 'own.sql: the file contains no SQL', cause });
  });

  it.each([
    new Error('Out of Memory Error: failed to pin block'),
    new Error('IO Error: No space left on device'),
    new Error('IO Error: No files found that match the pattern "/lake/items/part-1.parquet"'),
    new Error('INTERNAL Error: what'),
    new Error('a text: Binder Error: of another program'),
    new Error('binder Error: of another program'),
    { message: 'Binder Error: of no error' },
    undefined,
  ])("is passed on unchanged if the check's SQL isn't its cause: %s", (cause) => {
    expect(explain(cause)).toBe(cause);
  });
});
