/** What the models of pipelines/models say that they read and make, against their SQL and the code that runs them. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Database } from '../../src/duckdb/connection.js';
import { packagePath } from '../../src/io/package-path.js';
import { DERIVED_TABLES, TABLE_NAMES } from '../../src/tables/table.js';
import { listRelations } from '../list-relations.js';

let db: Database;
beforeAll(async () => {
  db = await Database.open();
});
afterAll(() => db.close());

const MODELS = readdirSync(packagePath('pipelines/models'))
  .filter((file) => file !== 'macros.sql')
  .map((file) => file.replace('.sql', ''));
const readText = (model: string) => readFileSync(packagePath(`pipelines/models/${model}.sql`), 'utf8');

/** `-- needs: a, b; variables c` → its names. */
function readHeader(model: string, key: 'needs' | 'makes') {
  const [, text = ''] = new RegExp(`^-- ${key}: (.*)$`, 'm').exec(readText(model)) ?? [];
  const [names = '', variables = ''] = text.split('; variables ');
  const split = (list: string) =>
    list
      .split(', ')
      .filter((name) => name !== '')
      .sort();
  return { names: split(names), variables: split(variables) };
}

const CODE = readdirSync(packagePath('src'), { recursive: true })
  .map(String)
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(path.join(packagePath('src'), file), 'utf8'))
  .join('\n');
/** True where the code makes a relation of this name, or one whose name ends so. */
const isMadeByCode = (name: string) =>
  new RegExp(`(TABLE|VIEW|table|view)'?,? [\`'"]?${name}\\b|[Ww]ith\\w* ${name} AS|WITH ${name} AS|'${name}'`).test(
    CODE,
  );

describe.each(MODELS)('model %s', (model) => {
  test('declares the relations and variables that its SQL reads', async () => {
    const sql = readText(model)
      .replace(/^--.*$/gm, '')
      .trim()
      .replace(/;$/, '');
    const variables = [...new Set([...sql.matchAll(/getvariable\('(\w+)'\)/g)].map(([, name]) => name))].sort();
    expect(readHeader(model, 'needs')).toEqual({ names: await listRelations(db, sql), variables });
  });

  test('needs what the lake has, what another model makes, or what the code makes', () => {
    const made = new Set(MODELS.flatMap((other) => readHeader(other, 'makes').names));
    const { names } = readHeader(model, 'needs');
    expect(
      names.filter((name) => !TABLE_NAMES.some((t) => t === name) && !made.has(name) && !isMadeByCode(name)),
    ).toEqual([]);
  });

  test('is run to make what it says', () => {
    const { names } = readHeader(model, 'makes');
    expect(names).not.toEqual([]);
    for (const name of names) {
      expect(`${CODE} ${TABLE_NAMES.join(' ')}`, name).toMatch(new RegExp(`\\b${name}\\b`));
    }
    const isDerived = DERIVED_TABLES.some((table) => table === model);
    expect(isDerived || CODE.includes(`readModel('${model}')`)).toBe(true);
  });
});
