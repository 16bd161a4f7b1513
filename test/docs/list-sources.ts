import { readdirSync, readFileSync } from 'node:fs';
import { packagePath } from '../../src/io/package-path.js';

/** The text of every TypeScript file of src, and of the shipped pipeline files. */
export function listSources(): string[] {
  const sources = readdirSync(packagePath('src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `src/${name}`);
  return [...sources, 'pipelines/prices.yaml', 'pipelines/demo.yaml'].map((file) =>
    readFileSync(packagePath(file), 'utf8'),
  );
}
