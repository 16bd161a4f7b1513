import { describe, expect, it, test } from 'vitest';
import { findRenamedDatasets, NAMES_MARK, writeDatasetPattern } from '../../src/apply/dataset-names.js';
import { openMacros } from './macro-database.js';

const macros = await openMacros();

/** The datasets that a cell lists, given the names that are known. */
async function readNames(known: string[], cell: string | null): Promise<string[] | null> {
  const row = await macros.db.row('SELECT to_json(dataset_names([$1 || $2::VARCHAR], $3))::VARCHAR AS names', [
    NAMES_MARK,
    cell,
    writeDatasetPattern(known),
  ]);
  return JSON.parse(String(row?.names)) as string[] | null;
}

describe('a cell that lists datasets', () => {
  it.each([
    [
      'a name that holds a semicolon is one dataset',
      ['Tools; Garden', 'Books'],
      'Books;Tools; Garden',
      ['Books', 'Tools; Garden'],
    ],
    ['also with the separator of the list', ['A;B', 'C'], 'A;B;C;A;B', ['A;B', 'C', 'A;B']],
    ['also with pipes', ['A|B', 'C'], 'C | A|B', ['C', 'A|B']],
    ['also with commas', ['Home, Garden', 'Tools'], 'Tools,Home, Garden', ['Tools', 'Home, Garden']],
    ['the longest of two names counts', ['Tools', 'Tools; Garden', 'Garden'], 'Tools; Garden', ['Tools; Garden']],
    [
      'a name that begins another is told apart',
      ['Tool', 'Tools', 'Tools 2'],
      'Tools 2;Tool;Tools',
      ['Tools 2', 'Tool', 'Tools'],
    ],
    ['a name is not found inside another', ['Tools'], 'Power Tools;Tools', ['Power Tools', 'Tools']],
    [
      'signs of patterns are texts',
      ['C++ (a.b)*', '\\E $1 [x] _ - # ü'],
      'C++ (a.b)*; \\E $1 [x] _ - # ü',
      ['C++ (a.b)*', '\\E $1 [x] _ - # ü'],
    ],
    [
      'names that are not known are parted by semicolons and pipes',
      [],
      'New; Other | Third',
      ['New', 'Other', 'Third'],
    ],
    [
      'names that are not known stay readable among others',
      ['Tools; Garden'],
      'New, old;Tools; Garden;Other',
      ['New, old', 'Tools; Garden', 'Other'],
    ],
    ['a comma parts where a known name stands next to it', ['Garden'], 'New,Garden', ['New', 'Garden']],
    ['spaces and empty places are nothing', ['A'], ' ; A ;; B ; ', ['A', 'B']],
    ['an empty text lists none', ['A'], '', []],
  ])('%s', async (_name, known, cell, expected) => {
    expect(await readNames(known, cell)).toEqual(expected);
  });

  it('keeps each name whole where a thousand are known', async () => {
    const known = Array.from({ length: 1000 }, (_, index) => `Dataset ${index}; part ${'x'.repeat(1 + (index % 200))}`);
    const chosen = [known[999], known[0], known[500]] as string[];
    expect(await readNames(known, chosen.join(';'))).toEqual(chosen);
  });
});

describe('lists of names that came as lists', () => {
  it('stay as they are', async () => {
    const pattern = writeDatasetPattern(['A', 'B']);
    const row = await macros.db.row(
      `SELECT dataset_names(['A; B', 'C'], $1)::VARCHAR AS some, dataset_names([]::VARCHAR[], $1)::VARCHAR AS none,
        dataset_names(NULL::VARCHAR[], $1) AS gone`,
      [pattern],
    );
    expect(row).toEqual({ some: '[A; B, C]', none: '[]', gone: null });
  });
});

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
