import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Entry {
  version?: string;
  integrity?: string;
  resolved?: string;
  link?: boolean;
}
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Entry> };
const installed = Object.entries(packages).filter(([path, { link }]) => path !== '' && link !== true);

// npm installs an entry without one unchecked.
test('every package that npm installs has a checksum in the lockfile', () => {
  expect(installed.length).toBeGreaterThan(100);
  const unchecked = installed.filter(([, { integrity = '' }]) => !/^sha512-[\w+/]{86}==$/.test(integrity));
  expect(unchecked.map(([path]) => path)).toEqual([]);
});

test('the lockfile names no registry: packages come from the one that npm is set to', () => {
  expect(installed.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
});
