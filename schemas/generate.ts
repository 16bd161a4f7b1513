import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { pipelineSchema } from '../src/config/pipeline-schema.js';
import { packagePath } from '../src/io/package-path.js';
import type { ColumnType } from '../src/tables/schemas.js';
import { TABLE_NAMES, type TableName } from '../src/tables/table.js';
import { readContract } from './contract.js';
import { writeOpenApi } from './openapi.js';

/** What is generated beside the tables' schemas, by file: `npm run schemas` writes it, a test compares it. */
export const GENERATED: Record<string, () => string> = {
  'schemas/openapi.json': writeOpenApi,
  'schemas/pipeline.schema.json': () => JSON.stringify(describePipelineFile()),
  'schemas/tables.json': () =>
    JSON.stringify(Object.fromEntries(TABLE_NAMES.map((table) => [table, readContract(table)]))),
  'src/tables/rows.ts': writeRowTypes,
};

/** Tables whose rows code makes, column by column: the compiler demands each. */
const MADE_ROWS: readonly TableName[] = ['runs'];
const TYPES: Partial<Record<ColumnType, string>> = { BIGINT: 'bigint', DOUBLE: 'number', BOOLEAN: 'boolean' };

function writeRowTypes(): string {
  const rows = MADE_ROWS.map((table) => {
    const columns = readContract(table).columns.map(
      ({ name, type, nullable }) => `  ${name}: ${TYPES[type] ?? 'string'}${nullable ? ' | null' : ''};`,
    );
    return `/** A row of table \`${table}\`: times as ISO 8601. */\nexport type ${toTypeName(table)} = {\n${columns.join('\n')}\n};\n`;
  });
  return ['// Generated from schemas/*.yaml by `npm run schemas`: change them there.\n', ...rows].join('\n');
}

const toTypeName = (table: string) =>
  `${table.replace(/(^|_)(.)/gu, (_, _before, first: string) => first.toUpperCase())}Row`;

/** The pipeline file for editors: keys, kinds of values, defaults. What a run refuses beyond that, it says itself. */
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
