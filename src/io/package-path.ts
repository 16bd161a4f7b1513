import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Absolute path of a file that ships beside the code: `pipelines/…`, `schemas/…`. */
export function packagePath(relative: string): string {
  return fileURLToPath(new URL(`../../${relative}`, import.meta.url));
}

/** From package.json. */
export const PRICELAKE_VERSION: string = JSON.parse(String(readFileSync(packagePath('package.json')))).version;
