import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { GENERATED } from '../../schemas/generate.js';
import { packagePath } from '../../src/io/package-path.js';
import { TABLE_NAMES } from '../../src/tables/table.js';

const readJson = (name: string) => JSON.parse(readFileSync(packagePath(name), 'utf8'));

test.each(Object.entries(GENERATED))('%s equals the output of the code; `npm run schemas` writes it', (name, build) => {
  const text = readFileSync(packagePath(name), 'utf8');
  if (name.endsWith('.json')) expect(JSON.parse(text)).toEqual(JSON.parse(build()));
  else expect(text).toBe(build());
});

test('schemas/*.yaml describe the tables of TABLE_KINDS in src/tables/table.ts', () => {
  const schemas = readdirSync(packagePath('schemas')).filter((name) => name.endsWith('.yaml'));
  expect(schemas.sort()).toEqual(TABLE_NAMES.map((name) => `${name}.yaml`).sort());
});

interface JsonSchema {
  type?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
}

/** Lists the options that the schema lacks as dotted paths; mappings with free names are not checked. */
function findUnknown(value: unknown, schema: JsonSchema | undefined, path = ''): string[] {
  if (schema === undefined) return [path];
  if (typeof value !== 'object' || value === null || schema.properties === undefined) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    if (schema.properties?.[name] === undefined && typeof schema.additionalProperties === 'object') return [];
    return findUnknown(member, schema.properties?.[name], `${path}.${name}`);
  });
}

test.each(['pipelines/prices.yaml', 'pipelines/demo.yaml'])(
  'the schema of pipeline files covers every option in %s',
  (name) => {
    const schema: JsonSchema = readJson('schemas/pipeline.schema.json');
    const file = parse(readFileSync(packagePath(name), 'utf8'));
    expect(findUnknown(file, schema)).toEqual([]);
    expect(findUnknown({ ...file, lake: { ...file.lake, pathh: '.' } }, schema)).toEqual(['.lake.pathh']);
  },
);

test('the schema of pipeline files requires exactly the options without a default', () => {
  const { required, properties, additionalProperties }: JsonSchema = readJson('schemas/pipeline.schema.json');
  expect([required, properties?.source?.required, properties?.lake?.required]).toEqual([
    ['source', 'lake'],
    ['baseUrl', 'apiKey'],
    ['path'],
  ]);
  expect([additionalProperties, properties?.source?.additionalProperties]).toEqual([false, false]);
});
