import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { maskFigures, renderTutorial } from '../../docs/render/tutorial.js';
import { packagePath } from '../../src/io/package-path.js';

test('docs/tutorial.md can be typed as it stands, and prints what it shows: npm run docs', async () => {
  const text = readFileSync(packagePath('docs/tutorial.md'), 'utf8');
  expect(maskFigures(await renderTutorial(text))).toBe(maskFigures(text));
});
