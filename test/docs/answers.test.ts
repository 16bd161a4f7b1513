import { describe, expect, test } from 'vitest';
import { LIMIT_NAMES } from '../../src/api/account-contract.js';
import { createCleaner } from '../../src/api/clean-text.js';
import { explainRefusal } from '../../src/api/refusal.js';
import { exitCodeOf } from '../../src/cli/exit-codes.js';
import { PricelakeError } from '../../src/io/errors.js';
import { FAULT_KINDS } from '../../src/sandbox/faults/fault-kinds.js';
import { readAnswersTable } from './answers-table.js';

/** Returns the error for a response that no further attempt can change. */
function explain(status: number, limit: string): PricelakeError {
  const body = Buffer.from(JSON.stringify({ status, error: 'x', message: 'x', docsUrl: '', ...(limit && { limit }) }));
  const refusal = explainRefusal({ status, headers: {}, body }, 'GET /x', createCleaner('key'), new Date(0));
  if (refusal instanceof PricelakeError) return refusal;
  return refusal.giveUp({ retry: false, because: 'attempts' }, 8, new Date(0));
}

describe('the table of errors in the documentation', () => {
  test('has each status and limit of the API document, with its error code and exit code', () => {
    const rows = readAnswersTable('status');
    for (const [status = '', limit = '', code, exit] of rows) {
      const error = explain(status === '5xx' ? 503 : status === 'other' ? 418 : Number(status), limit);
      expect([status, limit, error.code, String(exitCodeOf(error))]).toEqual([status, limit, code, exit]);
    }
    expect(new Set(rows.map(([status]) => status))).toEqual(
      new Set(['400', '401', '402', '404', '429', '5xx', 'other']),
    );
    expect(
      rows
        .map(([, limit]) => limit)
        .filter((limit) => limit !== '')
        .sort(),
    ).toEqual([...LIMIT_NAMES].sort());
  });

  test('has each fault that the sandbox can make', () => {
    expect(
      readAnswersTable('fault')
        .map(([fault]) => fault)
        .sort(),
    ).toEqual([...FAULT_KINDS].sort());
  });
});
