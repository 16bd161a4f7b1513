import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** The SQL file that is mutated, as its path ends, and what is read in its place. */
    sqlMutant: { path: string; text: string };
  }
}

/** Whatever reads the SQL file gets the mutant: the product has no switch for it. */
const { path, text } = inject('sqlMutant');
const { readFileSync } = fs;
fs.readFileSync = ((file: fs.PathOrFileDescriptor, options?: BufferEncoding) =>
  String(file).endsWith(path) ? text : readFileSync(file, options)) as typeof readFileSync;
syncBuiltinESMExports();
