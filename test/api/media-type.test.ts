import { expect, test } from 'vitest';
import { createCallCounter } from '../../src/api/call-counter.js';
import { exportType, isMediaType, JSON_TYPE } from '../../src/api/decode-body.js';
import { PricelakeError } from '../../src/errors/errors.js';

test('an export is CSV unless NDJSON is asked for', () => {
  expect([exportType({}), exportType({ format: 'csv' }), exportType({ format: 'ndjson' })]).toEqual([
    'text/csv',
    'text/csv',
    'application/x-ndjson',
  ]);
});

test.each([
  ['application/json', true],
  [' Application/JSON ; charset=UTF-8', true],
  ['application/json;charset="utf8"', true],
  ['application/json; profile=x; charset=utf-8', true],
  ['application/json; charset=utf-16', false],
  ['application/json; charset=xutf-8', false],
  ['application/json; charset=utf-8x', false],
  ['application/json; mycharset=utf-16', true],
  ['application/json2', false],
  ['text/html; charset=utf-8', false],
  ['', false],
  [undefined, false],
])('%j is JSON in UTF-8: %j', (header, answer) => {
  expect(isMediaType(header, JSON_TYPE)).toBe(answer);
});

test('calls that reached the service count, those without a 200 apart, and those under way hold their place', () => {
  const counter = createCallCounter();
  const end = counter.begin();
  counter.begin()(true, true);
  for (const _ of [1, 2]) counter.begin()(true, false);
  counter.begin()(false, false);
  expect([counter.count(), counter.countRefused()]).toEqual([3, 2]);
  counter.setLimit(1, (made) => new PricelakeError('budget', `made ${made}`));
  const last = counter.begin();
  expect(() => counter.begin()).toThrow('made 3');
  end(false, false);
  last(true, true);
  expect(() => counter.begin()(true, true)).not.toThrow();
  expect(() => counter.begin()).toThrow('made 5');
  counter.setLimit(null, () => new PricelakeError('budget', 'no'));
  expect(() => counter.begin()).not.toThrow();
});
