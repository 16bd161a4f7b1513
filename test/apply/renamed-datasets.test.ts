import { describe, expect, test } from 'vitest';
import { findRenamedDatasets } from '../../src/apply/renamed-datasets.js';

const named = (names: Record<string, string>) => Object.entries(names).map(([id, name]) => ({ id: BigInt(id), name }));

describe('rows of the lake get the new name of a dataset', () => {
  test('that the lake knows by another one', () => {
    const known = named({ 1: 'Tools', 2: 'Home' });
    expect(findRenamedDatasets(known, named({ 1: 'Garden', 2: 'Home', 3: 'New' }))).toEqual([
      { former: 'Tools', name: 'Garden' },
    ]);
  });

  test('that has exchanged names with another one', () => {
    expect(findRenamedDatasets(named({ 1: 'A', 2: 'B' }), named({ 1: 'B', 2: 'A' }))).toEqual([
      { former: 'A', name: 'B' },
      { former: 'B', name: 'A' },
    ]);
  });

  test('that took the name of one which has another name now', () => {
    expect(findRenamedDatasets(named({ 1: 'A', 2: 'B' }), named({ 1: 'B', 2: 'C' }))).toEqual([
      { former: 'A', name: 'B' },
      { former: 'B', name: 'C' },
    ]);
  });

  test('that now has the name of another one', () => {
    expect(findRenamedDatasets(named({ 1: 'A', 2: 'B' }), named({ 1: 'B', 2: 'B' }))).toEqual([
      { former: 'A', name: 'B' },
    ]);
  });
});

describe('rows of the lake keep a name', () => {
  test('that another dataset had beside, be it readable now or not', () => {
    const known = named({ 1: 'Tools', 2: 'Tools' });
    expect(findRenamedDatasets(known, named({ 1: 'Garden', 2: 'Tools' }))).toEqual([]);
    expect(findRenamedDatasets(known, named({ 1: 'Garden' }))).toEqual([]);
  });

  test('that a dataset has which the lake does not copy', () => {
    expect(findRenamedDatasets(named({ 1: 'Tools' }), named({ 1: 'Garden', 7: 'Tools' }))).toEqual([]);
  });

  test('of a dataset that can not be read at present', () => {
    expect(findRenamedDatasets(named({ 1: 'Tools', 2: 'Home' }), named({ 2: 'Home' }))).toEqual([]);
  });

  test('of a lake that knows no datasets yet', () => {
    expect(findRenamedDatasets([], named({ 1: 'Garden' }))).toEqual([]);
  });
});
