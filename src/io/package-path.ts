import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The absolute path of a file that ships with the code: `pipelines/…`, `schemas/…`. */
export function packagePath(relative: string): string {
  return fileURLToPath(new URL(`../../${relative}`, import.meta.url));
}

export const PRICELAKE_VERSION: string = JSON.parse(String(readFileSync(packagePath('package.json')))).version;
