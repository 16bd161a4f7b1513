import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { buildOpenApi } from '../src/api/openapi/document.js';
import { pipelineSchema } from '../src/config/pipeline-schema.js';
import { packagePath } from '../src/io/package-path.js';

/** What is generated beside the tables' schemas, by file: `npm run schemas` writes it, a test compares it. */
export const GENERATED: Record<string, () => object> = {
  'schemas/openapi.json': buildOpenApi,
  'schemas/pipeline.schema.json': describePipelineFile,
};

/** The pipeline file for editors: keys, kinds of values, defaults. What a run refuses beyond that, it says itself. */
function describePipelineFile(): object {
  const schema = z.toJSONSchema(pipelineSchema, { io: 'input', unrepresentable: 'any' });
  return { ...schema, title: 'A pipeline file of pricelake' };
}

function writeAll(): void {
  const paths = Object.entries(GENERATED).map(([name, build]) => {
    writeFileSync(packagePath(name), JSON.stringify(build()));
    return packagePath(name);
  });
  spawnSync('npx', ['biome', 'format', '--write', ...paths], { stdio: 'inherit' });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeAll();
