import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Entry {
  version?: string;
  integrity?: string;
  resolved?: string;
  link?: boolean;
  hasInstallScript?: boolean;
}
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Entry> };
const installed = Object.entries(packages).filter(([path, { link }]) => path !== '' && link !== true);

// npm doesn't check an entry without a checksum.
test('every package that npm installs has a checksum in the lockfile', () => {
  expect(installed.length).toBeGreaterThan(100);
  const unchecked = installed.filter(([, { integrity = '' }]) => !/^sha512-[\w+/]{86}==$/.test(integrity));
  expect(unchecked.map(([path]) => path)).toEqual([]);
});

test('every package with an install script is listed in package.json, so that npm prints no warning about it', () => {
  const { allowScripts, scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as Record<
    string,
    Record<string, unknown>
  >;
  const names = installed.filter(([, { hasInstallScript }]) => hasInstallScript === true).map(([path]) => path);
  expect([...new Set(names.map((path) => path.replace(/^.*node_modules\//u, '')))]).toEqual(
    Object.keys(allowScripts ?? {}),
  );
  expect(Object.keys(scripts ?? {}).filter((name) => /install$|^prepare$/u.test(name))).toEqual([]);
});

test('the lockfile names no registry, so that packages come from the configured one', () => {
  expect(installed.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
});
