import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildOpenApi } from '../src/api/openapi/document.js';

/** Writes what is generated beside the tables' schemas: `npm run schemas`. */
const path = fileURLToPath(new URL('openapi.json', import.meta.url));
writeFileSync(path, JSON.stringify(buildOpenApi()));
spawnSync('npx', ['biome', 'format', '--write', path], { stdio: 'inherit' });
