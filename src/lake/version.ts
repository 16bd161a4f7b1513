import { readFileSync } from 'node:fs';
import { packagePath } from '../io/package-path.js';

/** Version of pricelake, from its package.json. */
export const PRICELAKE_VERSION: string = JSON.parse(String(readFileSync(packagePath('package.json')))).version;
