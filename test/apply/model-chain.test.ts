/** Compares the headers of pipelines/models with their SQL and with the code that runs them. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { packagePath } from '../../src/io/package-path.js';
import { Database } from '../../src/sql/connection.js';
import { readModel } from '../../src/sql/model.js';
import { MODELS } from '../../src/sql/models.js';
import { DERIVED_TABLES } from '../../src/tables/table.js';
import { listRelations } from '../list-relations.js';

const db = await Database.open();
afterAll(() => db.close());

const CODE = readdirSync(packagePath('src'), { recursive: true })
  .map(String)
  .filter((file) => file.endsWith('.ts'))
  .map((file) => readFileSync(path.join(packagePath('src'), file), 'utf8'))
  .join('\n');

describe.each(Object.entries(MODELS))('model %s', (name, { needs, values }) => {
  test('declares the relations and values that its SQL reads', async () => {
    const sql = readModel(name)
      .replace(/^--.*$/gm, '')
      .trim();
    const read = [...new Set([...sql.matchAll(/getvariable\('(\w+)'\)/g)].map(([, value]) => value))].sort();
    expect({ needs: [...needs].sort(), values: Object.keys(values).sort() }).toEqual({
      needs: await listRelations(db, sql),
      values: read,
    });
  });

  test('is used by the code', () => {
    const isDerived = DERIVED_TABLES.some((table) => table === name);
    expect(isDerived || new RegExp(`(bindModel|\\.model)\\(\\s*'${name}'`).test(CODE)).toBe(true);
  });
});
