import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checkSet, listRead, readDeclarations, readVariables } from '../../src/analyze/variables.js';
import { packagePath } from '../../src/io/package-path.js';
import { readAnalysis } from '../../src/sql/model.js';

const names = readdirSync(packagePath('pipelines/analysis')).map((file) => file.replace(/\.sql$/u, ''));
/** The value that a run binds, because the queries of derived tables are models too. */
const BOUND = 'run_id';

test.each(names)('%s declares exactly the variables that it reads', (name) => {
  const declared = readVariables(name).map((one) => one.name);
  const read = [...listRead(readAnalysis(name))].filter((one) => one !== BOUND);
  expect(declared.sort()).toEqual(read.sort());
  expect(new Set(declared).size).toBe(declared.length);
});

const HEADER = `-- Words.
-- Variables:
-- · by (any of shop, category; default shop): what a row
--   stands for
-- · top (whole number from 1 to 9; default 3): rows
-- · share (number): a share
-- · kind (rise | fall; required): a kind
-- · on (true or false): a switch
-- · lags (whole numbers): days
-- · day (day): a day
-- · since (time): a time
-- · zone (time zone): a zone
SELECT 1`;

test('a declaration has a name, a type, a default and a meaning', () => {
  const declared = readDeclarations(HEADER, 'own');
  expect(declared.slice(0, 2)).toEqual([
    {
      ...{ name: 'by', kind: 'choices', choices: ['shop', 'category'], default: 'shop', isRequired: false },
      about: 'what a row stands for',
    },
    { name: 'top', kind: 'whole number', choices: [], from: 1, to: 9, default: '3', isRequired: false, about: 'rows' },
  ]);
  expect(() => readDeclarations('-- Variables:\n-- · top (many): rows\n', 'own.sql')).toThrow(
    /own\.sql: "top \(many\)/u,
  );
});

test.each([
  ['by=shop and category', undefined],
  ['by=shop,category', undefined],
  ['by=brand', /by=brand is not one of shop, category/u],
  ['top=0', /top=0 is not a whole number from 1 to 9/u],
  ['top=10', /from 1 to 9/u],
  ['top=2.5', /is not a whole number/u],
  ['share=-0.5', undefined],
  ['share=half', /is not a number/u],
  ['kind=rises', /kind=rises is not one of rise, fall/u],
  ['on=yes', /is not true or false/u],
  ['lags=1,7, 14', undefined],
  ['lags=1;7', /is not whole numbers such as 1,7,14/u],
  ['day=2026-02-29', /is not a day/u],
  ['day=2028-02-29', undefined],
  ['since=2026-11-20T08:00:00Z', undefined],
  ['since=2026-11-20 08:00+05:45', undefined],
  ['since=yesterday', /is not a day or a time/u],
  ['zone=Asia/Kathmandu', undefined],
  ['zone=Asia/Katmandoo', /is not a time zone/u],
  ['tpo=3', /own has no variable named tpo/u],
])('--set %s is validated against the declaration', (given, message) => {
  const [name = '', value = ''] = given.split('=');
  const check = () => checkSet('own', readDeclarations(HEADER, 'own'), { kind: 'rise', [name]: value });
  if (message === undefined) expect(check).not.toThrow();
  else expect(check).toThrow(message);
});

test('a typo gets a suggestion, and a missing required variable gets a hint', () => {
  const declared = readDeclarations(HEADER, 'own');
  const hint = (set: Record<string, string>) => {
    try {
      checkSet('own', declared, set);
    } catch (error) {
      return (error as { facts: { hint?: string } }).facts.hint;
    }
    return undefined;
  };
  expect(hint({ sinse: '2026-01-01' })).toBe('Did you mean since?');
  expect(hint({ kind: 'rize' })).toBe('Did you mean rise?');
  expect(hint({})).toBe('Pass it with --set kind=VALUE (rise | fall).');
});
