import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

test('the version that commits name is that of the package', async () => {
  const { version } = JSON.parse(await readFile('package.json', 'utf8'));
  expect(version).toMatch(/^\d+\.\d+\.\d+/);
  expect((await import('../../src/lake/version.js')).PRICELAKE_VERSION).toBe(version);
});
