import { describe, expect, it, test } from 'vitest';
import { findRenamedDatasets, NAMES_MARK, writeDatasetPattern } from '../../src/typing/dataset-names.js';
import { openMacros } from './macro-database.js';

const macros = await openMacros();

/** The datasets that a cell lists, if these dataset names are known. */
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
      'a name that contains a semicolon is one dataset',
      ['Tools; Garden', 'Books'],
      'Books;Tools; Garden',
      ['Books', 'Tools; Garden'],
    ],
    ['a name may contain the separator of the list without a space', ['A;B', 'C'], 'A;B;C;A;B', ['A;B', 'C', 'A;B']],
    ['a name may contain a pipe', ['A|B', 'C'], 'C | A|B', ['C', 'A|B']],
    ['a name may contain a comma', ['Home, Garden', 'Tools'], 'Tools,Home, Garden', ['Tools', 'Home, Garden']],
    ['the longest matching name is used', ['Tools', 'Tools; Garden', 'Garden'], 'Tools; Garden', ['Tools; Garden']],
    [
      'a name that begins with another name is a separate dataset',
      ['Tool', 'Tools', 'Tools 2'],
      'Tools 2;Tool;Tools',
      ['Tools 2', 'Tool', 'Tools'],
    ],
    ['a name is not found inside another', ['Tools'], 'Power Tools;Tools', ['Power Tools', 'Tools']],
    [
      'special characters of patterns are read literally',
      ['C++ (a.b)*', '\\E $1 [x] _ - # ü'],
      'C++ (a.b)*; \\E $1 [x] _ - # ü',
      ['C++ (a.b)*', '\\E $1 [x] _ - # ü'],
    ],
    ['unknown names are separated by semicolons and pipes', [], 'New; Other | Third', ['New', 'Other', 'Third']],
    [
      'unknown names stay readable among known names',
      ['Tools; Garden'],
      'New, old;Tools; Garden;Other',
      ['New, old', 'Tools; Garden', 'Other'],
    ],
    ['a comma separates names if it is next to a known name', ['Garden'], 'New,Garden', ['New', 'Garden']],
    ['spaces and empty parts are ignored', ['A'], ' ; A ;; B ; ', ['A', 'B']],
    ['an empty text contains no datasets', ['A'], '', []],
  ])('%s', async (_name, known, cell, expected) => {
    expect(await readNames(known, cell)).toEqual(expected);
  });

  it('keeps each name whole if a thousand names are known', async () => {
    const known = Array.from({ length: 1000 }, (_, index) => `Dataset ${index}; part ${'x'.repeat(1 + (index % 200))}`);
    const chosen = [known[999], known[0], known[500]] as string[];
    expect(await readNames(known, chosen.join(';'))).toEqual(chosen);
  });
});

describe('lists of names that arrive as lists', () => {
  it("aren't changed", async () => {
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
      'get the new name of a renamed dataset',
      { 1: 'Tools', 2: 'Home' },
      { 1: 'Garden', 2: 'Home', 3: 'New' },
      ['Tools → Garden'],
    ],
    ['get the exchanged names of two datasets', { 1: 'A', 2: 'B' }, { 1: 'B', 2: 'A' }, ['A → B', 'B → A']],
    ['get a new name that another dataset had before', { 1: 'A', 2: 'B' }, { 1: 'B', 2: 'C' }, ['A → B', 'B → C']],
    ['get a new name that another dataset still has', { 1: 'A', 2: 'B' }, { 1: 'B', 2: 'B' }, ['A → B']],
    [
      'keep a name that two datasets had, if one of them keeps it',
      { 1: 'Tools', 2: 'Tools' },
      { 1: 'Garden', 2: 'Tools' },
      [],
    ],
    [
      "keep a name that two datasets had, if one of them can't be read now",
      { 1: 'Tools', 2: 'Tools' },
      { 1: 'Garden' },
      [],
    ],
    ['keep a name of a dataset that the lake does not copy', { 1: 'Tools' }, { 1: 'Garden', 7: 'Tools' }, []],
    ["keep the name of a dataset that can't be read now", { 1: 'Tools', 2: 'Home' }, { 2: 'Home' }, []],
    ["keep all names if the lake doesn't know any datasets yet", {}, { 1: 'Garden' }, []],
  ])('%s', (_name, known, visible, renames) => {
    const found = findRenamedDatasets(named(known), named(visible));
    expect(found.map(({ former, name }) => `${former} → ${name}`)).toEqual(renames);
  });
});
