import { readFileSync } from 'node:fs';
import { packagePath } from '../io/package-path.js';

/** A query of pipelines/analysis, by name; `(FROM 'other.sql')` in it is replaced by the query of that file. */
export function readAnalysis(name: string): string {
  const text = readFileSync(packagePath(`pipelines/analysis/${name}.sql`), 'utf8');
  return text.replace(/^(?!--)(.*)\(FROM '(\w+)\.sql'\)/gmu, (_, before, other) => `${before}(${readAnalysis(other)})`);
}
