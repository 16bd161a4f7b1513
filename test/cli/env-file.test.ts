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
  test('sets variables that the environment lacks, and replaces none', async () => {
    const file = path.join(folder, 'both.env');
    await writeFile(file, 'PRICELAKE_TEST_A=file\nPRICELAKE_TEST_B=file\n');
    process.env.PRICELAKE_TEST_A = 'shell';
    loadEnvFile(file);
    expect(NAMES.map((name) => process.env[name])).toEqual(['shell', 'file']);
  });

  test('sets a variable that is empty in the environment, and its first variable after a byte-order mark', async () => {
    const file = path.join(folder, 'marked.env');
    await writeFile(file, '\uFEFFPRICELAKE_TEST_A=file\nPRICELAKE_TEST_B=file\n');
    process.env.PRICELAKE_TEST_B = '';
    loadEnvFile(file);
    expect(NAMES.map((name) => process.env[name])).toEqual(['file', 'file']);
  });

  test("is refused with its encoding if it isn't UTF-8", async () => {
    const file = path.join(folder, 'wide.env');
    await writeFile(file, Buffer.from('\uFEFFPRICELAKE_TEST_A=file\n', 'utf16le'));
    expect(() => loadEnvFile(file)).toThrow('wide.env: the file is UTF-16 LE, not UTF-8');
  });

  test("may be missing or be a virtual environment's folder", async () => {
    await mkdir(path.join(folder, '.env'));
    loadEnvFile(path.join(folder, '.env'));
    loadEnvFile(path.join(folder, 'none'));
  });

  test.each(['live_1', 'https://api.example/v1?a=b', 'a#b', `a'b`, `a"b'c`, 'a$b\\n'])(
    'keeps the value %j unchanged',
    async (value) => {
      const file = path.join(folder, 'one.env');
      await writeFile(file, formatVariable('PRICELAKE_TEST_A', value));
      loadEnvFile(file);
      expect(process.env.PRICELAKE_TEST_A).toBe(value);
    },
  );
});
