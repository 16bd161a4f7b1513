import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { GENERATED } from '../../docs/generate.js';
import { VARIABLES } from '../../docs/render/environment.js';
import { listErrorCodes } from '../../docs/render/errors.js';
import { listOptions, OPTIONS } from '../../docs/render/pipeline.js';
import { toFlagName } from '../../src/cli/command.js';
import { SPECS } from '../../src/cli/commands.js';
import { packagePath } from '../../src/io/package-path.js';
import { listSources } from './list-sources.js';

describe('the reference', () => {
  test.each(Object.entries(GENERATED))('%s is up to date: npm run docs', async (file, render) => {
    expect(readFileSync(packagePath(file), 'utf8')).toBe(await render());
  });

  test('describes every command, each of its options, and an example', () => {
    const page = readFileSync(packagePath('docs/reference/cli.md'), 'utf8');
    const sections = new Map(page.split(/^## /mu).map((section) => [section.split('\n', 1)[0], section]));
    const specs = SPECS;
    expect(specs.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['demo', 'sync', 'check', 'spread', 'query', 'status', 'sandbox advance']),
    );
    for (const { name, describe, arguments: positionals = {}, options = {}, examples } of specs) {
      const section = sections.get(`pricelake ${name}`);
      expect(section, name).toContain(`\n${describe}.\n`);
      expect(section, name).toContain(`Example: \`${examples[0]?.[0]}\``);
      const flags = [...Object.keys(positionals), ...Object.keys(options).map((key) => `--${toFlagName(key)}`)];
      for (const flag of flags) {
        expect(section, `${name} ${flag}`).toMatch(new RegExp(`[\`[<]${flag}[ \`\\]>]`));
        expect(page, `${name} ${flag}`).toMatch(new RegExp(`^- \`${flag}(?: [^\`]+)?\`(?:, \`-\\w\`)?: \\S`, 'mu'));
      }
    }
  });

  test('explains every error code', () => {
    const codes = listErrorCodes();
    expect(codes.length).toBeGreaterThan(15);
    expect(codes.map(({ code }) => code)).toContain('gate_failed');
    for (const { code, meaning } of codes) expect(meaning, code).not.toBe('');
  });

  test('has in OPTIONS of docs/render/pipeline.ts every option of the pipeline file with its default, and code reads each', () => {
    expect(Object.keys(OPTIONS).sort()).toEqual(listOptions().sort());
    const code = listSources().join('\n');
    const isRead = (option: string) => new RegExp(`[.{,] ?${option.split('.').at(-1)}\\b`, 'u').test(code);
    expect(listOptions().filter((option) => !isRead(option))).toEqual([]);
    const file = parse(readFileSync(packagePath('pipelines/prices.yaml'), 'utf8')) as object;
    for (const [option, [byDefault]] of Object.entries(OPTIONS)) {
      const shown = option.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], file);
      if (byDefault !== '') expect([option, shown]).toEqual([option, parse(byDefault)]);
    }
  });

  test('lists every environment variable of the command line', () => {
    const found = listSources().flatMap((text) => text.match(/\bPRICELAKE_[A-Z_]+\b/g) ?? []);
    const inside = ['PRICELAKE_VERSION'];
    const names = new Set(found.filter((name) => !inside.includes(name)));
    expect(names).toEqual(new Set(VARIABLES.map(([name]) => name).filter((name) => name.startsWith('PRICELAKE_'))));
  });
});
