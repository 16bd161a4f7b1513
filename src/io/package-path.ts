import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Returns the absolute path of a file in pricelake's package, such as `pipelines/…` or `schemas/…`. */
export function packagePath(relative: string): string {
  return fileURLToPath(new URL(`../../${relative}`, import.meta.url));
}

export const PRICELAKE_VERSION: string = JSON.parse(String(readFileSync(packagePath('package.json')))).version;
