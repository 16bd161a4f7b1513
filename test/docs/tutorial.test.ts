import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { maskFigures, renderTutorial } from '../../docs/render/tutorial.js';
import { packagePath } from '../../src/io/package-path.js';

test('the commands of docs/tutorial.md work as written and print the shown output: npm run docs', async () => {
  const text = readFileSync(packagePath('docs/tutorial.md'), 'utf8');
  expect(maskFigures(await renderTutorial(text))).toBe(maskFigures(text));
});
