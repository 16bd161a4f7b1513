import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { listOutputSchemas } from '../src/cli/results/results.js';
import { pipelineSchema } from '../src/config/pipeline-schema.js';
import { packagePath } from '../src/io/package-path.js';
import type { ColumnType } from '../src/tables/schemas.js';
import { TABLE_NAMES, type TableName } from '../src/tables/table.js';
import { readContract } from './contract.js';
import { writeOpenApi } from './openapi.js';

/**
 * Generated files other than the tables' schemas, with the functions that render them. `npm run schemas` writes the
 * files, and a test fails if they are out of date.
 */
export const GENERATED: Record<string, () => string> = {
  'schemas/openapi.json': writeOpenApi,
  'schemas/pipeline.schema.json': () => JSON.stringify(describePipelineFile()),
  'schemas/tables.json': () =>
    JSON.stringify(Object.fromEntries(TABLE_NAMES.map((table) => [table, readContract(table)]))),
  ...Object.fromEntries(
    Object.entries(listOutputSchemas()).map(([name, schema]) => [
      `schemas/output/${name}.json`,
      () => JSON.stringify(schema),
    ]),
  ),
  'src/tables/rows.ts': writeRowTypes,
  'src/sql/models.ts': writeModels,
};

/** Tables whose rows TypeScript code builds. Their row types make the compiler check that each column has a value. */
const MADE_ROWS: readonly TableName[] = ['runs'];
const TYPES: Partial<Record<ColumnType, string>> = { BIGINT: 'bigint', DOUBLE: 'number', BOOLEAN: 'boolean' };

function writeRowTypes(): string {
  const rows = MADE_ROWS.map((table) => {
    const columns = readContract(table).columns.map(
      ({ name, type, nullable }) => `  ${name}: ${TYPES[type] ?? 'string'}${nullable ? ' | null' : ''};`,
    );
    return `/** A row of table \`${table}\`, with times as ISO 8601. */\nexport type ${toTypeName(table)} = {\n${columns.join('\n')}\n};\n`;
  });
  return ['// Generated from schemas/*.yaml by `npm run schemas`: change them there.\n', ...rows].join('\n');
}

const toTypeName = (table: string) =>
  `${table.replace(/(^|_)(.)/gu, (_, _before, first: string) => first.toUpperCase())}Row`;

/** Renders a list of the models in pipelines/models, with the tables that each one reads and its parameters. */
function writeModels(): string {
  const names = readdirSync(packagePath('pipelines/models')).map((file) => file.replace('.sql', ''));
  const models = names
    .filter((name) => name !== 'macros')
    .sort()
    .map(writeModel);
  return `// Generated from the headers of pipelines/models/*.sql by \`npm run schemas\`: change them there.

/** The relations that each model reads, and the types of its values. */
export const MODELS = {
${models.join('\n')}
} as const;
`;
}

function writeModel(name: string): string {
  const text = readFileSync(packagePath(`pipelines/models/${name}.sql`), 'utf8');
  const read = (key: string) => {
    const [, list = ''] = new RegExp(`^-- ${key}: (.+)$`, 'm').exec(text) ?? [];
    return list === '' ? [] : list.split(', ');
  };
  const needs = read('needs').map((need) => `'${need}'`);
  const values = read('values').map((value) => {
    const [key = '', type = ''] = value.split(' ');
    return `${key}: '${type}'`;
  });
  return `  ${name}: {
${writeList('needs: [', needs, ']')}
${writeList('values: {', values, '}')}
  },`;
}

/** Formats a list like the formatter does: on one line if it fits. */
function writeList(open: string, list: readonly string[], close: string): string {
  const space = close === '}' && list.length > 0 ? ' ' : '';
  const line = `    ${open}${space}${list.join(', ')}${space}${close},`;
  if (line.length <= 120) return line;
  return `    ${open}\n${list.map((one) => `      ${one},`).join('\n')}\n    ${close},`;
}

/** Returns a JSON Schema of the pipeline file for editors. It can't express all rules; a run checks the others. */
function describePipelineFile(): object {
  const schema = z.toJSONSchema(pipelineSchema, { io: 'input', unrepresentable: 'any' });
  return { ...schema, title: 'A pipeline file of pricelake' };
}

function writeAll(): void {
  const paths = Object.entries(GENERATED).map(([name, build]) => {
    writeFileSync(packagePath(name), build());
    return packagePath(name);
  });
  spawnSync('npx', ['biome', 'format', '--write', ...paths], { stdio: 'inherit' });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeAll();
