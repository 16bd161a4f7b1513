import { readFileSync } from 'node:fs';
import { packagePath } from '../io/package-path.js';

/** A query of pipelines/analysis, by name; where it has `(FROM 'other.sql')`, the query of that file stands. */
export function readAnalysis(name: string): string {
  const text = readFileSync(packagePath(`pipelines/analysis/${name}.sql`), 'utf8');
  return text.replace(/^(?!--)(.*)\(FROM '(\w+)\.sql'\)/gmu, (_, before, other) => `${before}(${readAnalysis(other)})`);
}
