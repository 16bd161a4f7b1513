import { describe, expect, it, test } from 'vitest';
import { findRenamedDatasets, NAMES_MARK, writeDatasetPattern } from '../../src/typing/dataset-names.js';
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

type Names = Record<number, string>;
const named = (names: Names) => Object.entries(names).map(([id, name]) => ({ id: BigInt(id), name }));

describe('rows of the lake', () => {
  test.each<[string, Names, Names, string[]]>([
    [
      'get the new name of a dataset that the lake knows by another one',
      { 1: 'Tools', 2: 'Home' },
      { 1: 'Garden', 2: 'Home', 3: 'New' },
      ['Tools → Garden'],
    ],
    ['get the names that two datasets exchanged', { 1: 'A', 2: 'B' }, { 1: 'B', 2: 'A' }, ['A → B', 'B → A']],
    ['get a name that another dataset had', { 1: 'A', 2: 'B' }, { 1: 'B', 2: 'C' }, ['A → B', 'B → C']],
    ['get a name that another dataset has', { 1: 'A', 2: 'B' }, { 1: 'B', 2: 'B' }, ['A → B']],
    ['keep a name that another dataset had beside', { 1: 'Tools', 2: 'Tools' }, { 1: 'Garden', 2: 'Tools' }, []],
    ['keep it if that one can not be read now', { 1: 'Tools', 2: 'Tools' }, { 1: 'Garden' }, []],
    ['keep a name of a dataset that the lake does not copy', { 1: 'Tools' }, { 1: 'Garden', 7: 'Tools' }, []],
    ['keep the name of a dataset that can not be read at present', { 1: 'Tools', 2: 'Home' }, { 2: 'Home' }, []],
    ['that knows no datasets yet keep all', {}, { 1: 'Garden' }, []],
  ])('%s', (_name, known, visible, renames) => {
    const found = findRenamedDatasets(named(known), named(visible));
    expect(found.map(({ former, name }) => `${former} → ${name}`)).toEqual(renames);
  });
});
