import { readFileSync } from 'node:fs';
import { packagePath } from '../../src/io/package-path.js';

/** Rows of the table of docs/reference/answers.md whose first column is named so, their cells without code marks. */
export function readAnswersTable(first: string): string[][] {
  const text = readFileSync(packagePath('docs/reference/answers.md'), 'utf8');
  const [, body = ''] = new RegExp(`^\\| ${first} .*\\n\\|[- |]+\\n((?:\\|.*\\n)+)`, 'm').exec(text) ?? [];
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
