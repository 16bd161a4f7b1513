import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { LISTED } from '../../src/cli/commands.js';
import { complete } from '../../src/cli/completion/complete.js';
import { publishLake } from './lake-fixture.js';
import { runHere, runPricelake } from './pricelake.js';

const lake = await publishLake();
afterAll(() => rm(dirname(lake), { recursive: true }));

/** Values that complete the last of these words. */
async function list(...words: string[]): Promise<string[]> {
  return (await complete(words)).map(({ value }) => value);
}

describe('completion', () => {
  it('offers every command and its subcommands', async () => {
    expect(await list('')).toEqual(LISTED.map(({ spec }) => spec.name));
    expect(await list('sy')).toEqual(['sync']);
    expect(await list('sandbox', 'adv')).toEqual(['advance']);
    expect(await list('deliver', '')).toEqual(['changes', 'manifest', 'load']);
    expect(await list('compact', '--file')).toEqual(['--file-size']);
  });

  it('offers the options of a command that are not given yet', async () => {
    expect(await list('spread', '--m')).toEqual(['--min-shops']);
    expect(await list('spread', '--min-shops', '3', '--m')).toEqual([]);
    expect(await list('--json', 'sync', '--pub')).toEqual(['--publish-held']);
    expect(await list('sync', '--qui')).toEqual(['--quiet']);
  });

  it('offers tables, analyses, checks and formats', async () => {
    expect(await list('schema', 'price_spread')).toEqual(['price_spread', 'price_spread_daily']);
    expect(await list('query', '--analysis', 'price_l')).toEqual(['price_leaders']);
    expect(await list('check', '--select', 'gtin_check')).toEqual(['gtin_check_digit']);
    expect(await list('query', '--format', 'p')).toEqual(['parquet']);
    expect(await list('query', '--format', "'p")).toEqual(['parquet']);
  });

  it('leaves paths to the shell', async () => {
    expect(await list('sync', '')).toEqual([':files']);
    expect(await list('query', '--lake', '')).toEqual([':files']);
  });

  it('reads currencies, brands and shops from the lake, and offers nothing if there is none', async () => {
    expect(await list('spread', '--lake', lake, '--currency', '')).toEqual(['EUR']);
    expect(await complete(['watch', '--lake', lake, '--own-site', ''])).toEqual([
      { value: '1', meaning: 'Alpha' },
      { value: '2', meaning: 'Beta' },
      { value: '3', meaning: '茶店' },
    ]);
    expect(await list('spread', '--lake', '/none', '--currency', '')).toEqual([]);
  });

  it('reads the lake of the pipeline file on the command line', async () => {
    const file = join(dirname(lake), 'other.yaml');
    await writeFile(file, `source: { baseUrl: http://localhost, apiKey: "\${KEY}" }\nlake: { path: ${lake} }\n`);
    expect(await list('spread', file, '--currency', '')).toEqual(['EUR']);
  });

  it('prints one value and its meaning per line for the shell scripts', async () => {
    const { stdout } = await runHere(['__complete', 'lake', 'c']);
    expect(stdout).toBe('compact\tMerge small files, without changing any rows\n');
    for (const shell of ['bash', 'zsh', 'fish']) {
      expect((await runHere(['completion', shell])).stdout).toContain('pricelake __complete');
    }
  });
});

describe('help', () => {
  it('lists topics, prints a page, and prints the help of a command', async () => {
    expect((await runHere(['help'])).stdout).toMatch(/^cost +\S/mu);
    expect((await runHere(['help', 'cost'])).stdout).toMatch(/^# /u);
    expect((await runPricelake(['help', 'sync'])).stdout).toContain('--publish-held');
    const { code, stderr } = await runHere(['help', 'recovre']);
    expect([code, stderr]).toEqual([
      2,
      'pricelake: unknown topic recovre\n  → Did you mean `pricelake help recover`?\n',
    ]);
  });
});
