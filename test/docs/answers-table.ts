import { readFileSync } from 'node:fs';
import { packagePath } from '../../src/io/package-path.js';

/** Returns the rows of the table in docs/reference/answers.md whose first column has this name. Throws if there is no such table. */
export function readAnswersTable(first: string): string[][] {
  const text = readFileSync(packagePath('docs/reference/answers.md'), 'utf8');
  const [, body] = new RegExp(`^\\| ${first} .*\\n\\|[- |]+\\n((?:\\|.*\\n)+)`, 'm').exec(text) ?? [];
  if (body === undefined) throw new Error(`docs/reference/answers.md has no table whose first column is "${first}"`);
  return body
    .trimEnd()
    .split('\n')
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', '')),
    );
}
