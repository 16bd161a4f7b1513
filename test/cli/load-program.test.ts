import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { compileBundle, nameCodeCache } from '../../src/cli/load-program.js';
import { packagePath } from '../../src/io/package-path.js';

const BUILT = packagePath('dist/cli');
const BUNDLE = path.join(BUILT, 'program.cjs');

describe('the code cache', () => {
  test('is written by the build, and V8 takes it', () => {
    expect(compileBundle(BUNDLE).script.cachedDataRejected).toBe(false);
  });

  test('is not used when it is damaged', () => {
    const { main, bundle } = copyBuilt();
    const bytes = readFileSync(nameCodeCache(bundle));
    for (let at = 0; at < bytes.length; at += 20_000) bytes.writeUInt8(0xff - bytes.readUInt8(at), at);
    writeFileSync(nameCodeCache(bundle), bytes);
    expect(showHelp(main)).toContain('An exact copy of the Price and Product Data API');
    expect(compileBundle(bundle).script.cachedDataRejected).toBeUndefined();
  });

  test('is not used with another bundle, even one of the same length', () => {
    const { main, bundle } = copyBuilt();
    writeFileSync(bundle, readFileSync(bundle, 'utf8').replaceAll('An exact copy of the', 'An other copy of the'));
    expect(showHelp(main)).toContain('An other copy of the Price and Product Data API');
  });

  test('is not needed', () => {
    const { main, bundle } = copyBuilt();
    writeFileSync(nameCodeCache(bundle), '');
    expect(showHelp(main)).toContain('An exact copy of the Price and Product Data API');
  });
});

/** The built command in a folder of its own. */
function copyBuilt(): { main: string; bundle: string } {
  const folder = mkdtempSync(path.join(tmpdir(), 'pricelake-built-'));
  const place = path.join(folder, 'dist', 'cli');
  mkdirSync(place, { recursive: true });
  for (const name of ['package.json', 'node_modules', 'pipelines', 'schemas']) {
    symlinkSync(packagePath(name), path.join(folder, name));
  }
  const names = ['main.js', 'program.cjs', path.basename(nameCodeCache(BUNDLE))];
  for (const name of names) copyFileSync(path.join(BUILT, name), path.join(place, name));
  return { main: path.join(place, 'main.js'), bundle: path.join(place, 'program.cjs') };
}

const showHelp = (main: string) => execFileSync(process.execPath, [main, '--help'], { encoding: 'utf8' });
