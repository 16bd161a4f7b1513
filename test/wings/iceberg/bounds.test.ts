import { expect, it } from 'vitest';
import { loadTableSchema } from '../../../src/tables/schemas.js';
import { describeMetrics, encodeValue } from '../../../src/wings/iceberg/bounds.js';
import { continuesSchema, describeSchema } from '../../../src/wings/iceberg/iceberg-schema.js';

/** According to "Appendix D: Single-value serialization" of the specification. */
it.each([
  ['BIGINT', '9007199254740993', '0100000000002000'],
  ['BIGINT', '-1', 'ffffffffffffffff'],
  ['DECIMAL(18,4)', '0.0000', '00'],
  ['DECIMAL(18,4)', '0.0127', '7f'],
  ['DECIMAL(18,4)', '0.0128', '0080'],
  ['DECIMAL(18,4)', '-0.0128', '80'],
  ['DECIMAL(18,4)', '-0.0129', 'ff7f'],
  ['DECIMAL(18,4)', '99999999999999.9999', '0de0b6b3a763ffff'],
  ['TIMESTAMP WITH TIME ZONE', '2026-01-31T12:00:00.001Z', 'e83349d4ad490600'],
  ['DATE', '1970-01-02', '01000000'],
  ['DATE', '1969-12-31', 'ffffffff'],
  ['BOOLEAN', 'true', '01'],
  ['DOUBLE', '1.5', '000000000000f83f'],
  ['VARCHAR', 'ž', 'c5be'],
] as const)('writes the bound %s %s in binary form', (type, text, hex) => {
  expect(encodeValue(type, text).toString('hex')).toBe(hex);
});

it('omits bounds if the log has only one side, and keeps digits beyond 2^53', () => {
  const stats =
    '{"numRecords":2,"minValues":{"item_id":9007199254740993,"title":"a"},"maxValues":{"item_id":9007199254740995},"nullCount":{"item_id":0,"title":1}}';
  const file = {
    path: 'x',
    rows: 2n,
    bytes: 1,
    stats,
    modifiedAt: 0,
    partitionValues: { site_id: '9007199254740993' },
  };
  const { lower, upper, nulls } = describeMetrics(loadTableSchema('items'), file);
  expect([lower, upper].map((bounds) => bounds.get(1)?.readBigInt64LE())).toEqual([
    9007199254740993n,
    9007199254740995n,
  ]);
  expect(lower.has(2)).toBe(false);
  expect(nulls).toEqual(
    new Map([
      [1, 0],
      [2, 1],
      [20, 0],
    ]),
  );
  expect(lower.get(20)?.readBigInt64LE()).toBe(9007199254740993n);
});

it('continues a schema that gains columns at its end, and no other schema', () => {
  const contract = loadTableSchema('items');
  const before = describeSchema({ ...contract, columns: contract.columns.slice(0, -1) }, 0);
  expect(continuesSchema(before, describeSchema(contract, 1))).toBe(true);
  expect(continuesSchema(before, describeSchema({ ...contract, columns: contract.columns.slice(1) }, 1))).toBe(false);
  const renamed = contract.columns.map((column, index) => (index === 3 ? { ...column, name: 'other' } : column));
  expect(continuesSchema(before, describeSchema({ ...contract, columns: renamed }, 1))).toBe(false);
});
