import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { formatVariable, loadEnvFile } from '../../src/cli/env-file.js';

const NAMES = ['PRICELAKE_TEST_A', 'PRICELAKE_TEST_B'] as const;
const folder = await mkdtemp(path.join(tmpdir(), 'pricelake-env-'));
afterEach(() => {
  for (const name of NAMES) delete process.env[name];
});
afterAll(() => rm(folder, { recursive: true }));

describe('.env', () => {
  test('sets what the environment lacks, and replaces nothing', async () => {
    const file = path.join(folder, 'both.env');
    await writeFile(file, 'PRICELAKE_TEST_A=file\nPRICELAKE_TEST_B=file\n');
    process.env.PRICELAKE_TEST_A = 'shell';
    loadEnvFile(file);
    expect(NAMES.map((name) => process.env[name])).toEqual(['shell', 'file']);
  });

  test('sets a variable that the environment has as an empty text, and its first one behind a byte-order mark', async () => {
    const file = path.join(folder, 'marked.env');
    await writeFile(file, '\uFEFFPRICELAKE_TEST_A=file\nPRICELAKE_TEST_B=file\n');
    process.env.PRICELAKE_TEST_B = '';
    loadEnvFile(file);
    expect(NAMES.map((name) => process.env[name])).toEqual(['file', 'file']);
  });

  test('is refused with its encoding where it is not UTF-8', async () => {
    const file = path.join(folder, 'wide.env');
    await writeFile(file, Buffer.from('\uFEFFPRICELAKE_TEST_A=file\n', 'utf16le'));
    expect(() => loadEnvFile(file)).toThrow('wide.env: the file is UTF-16 LE, not UTF-8');
  });

  test('may be missing, or the folder of a virtual environment', async () => {
    await mkdir(path.join(folder, '.env'));
    loadEnvFile(path.join(folder, '.env'));
    loadEnvFile(path.join(folder, 'none'));
  });

  test.each(['live_1', 'https://api.example/v1?a=b', 'a#b', `a'b`, `a"b'c`, 'a$b\\n'])(
    'keeps %j as it is',
    async (value) => {
      const file = path.join(folder, 'one.env');
      await writeFile(file, formatVariable('PRICELAKE_TEST_A', value));
      loadEnvFile(file);
      expect(process.env.PRICELAKE_TEST_A).toBe(value);
    },
  );
});
