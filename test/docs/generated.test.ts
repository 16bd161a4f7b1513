import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { listErrorCodes, listHelps, renderAll } from '../../docs/generate.js';
import { packagePath } from '../../src/io/package-path.js';

describe('the documents', () => {
  test.each(['docs/cli.md', 'docs/tables.md', 'docs/checks.md'])('%s is up to date: npm run docs', async (file) => {
    expect(await readFile(packagePath(file), 'utf8')).toBe((await renderAll())[file]);
  });

  test('describe every command, with what it does, each of its options and examples', async () => {
    const helps = await listHelps();
    const names = helps.map((help) => help.name);
    expect(names).toEqual(
      expect.arrayContaining(['demo', 'sync', 'check', 'spread', 'query', 'status', 'sandbox advance']),
    );
    for (const { name, help } of helps.slice(1)) {
      expect(help, name).toContain('Examples:');
      const [, ...options] = (help.split('\nExamples:')[0] ?? '').split(/\n +(?:-\w, )?(?=--[a-z])/);
      expect(options.length, name).toBeGreaterThan(2);
      // Flag, then what it does; what begins with a bracket is only its type.
      for (const option of options) expect(option).toMatch(/^--[a-z-]+\s{2,}[^[\s]/);
    }
  });

  test('explain every error code', () => {
    const codes = listErrorCodes();
    expect(codes.length).toBeGreaterThan(15);
    expect(codes.map(({ code }) => code)).toContain('gate_failed');
    for (const { code, meaning } of codes) expect(meaning, code).not.toBe('');
  });
});
