import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findPipeline, seekPipeline } from '../../src/cli/find-pipeline.js';

let folder: string;
let empty: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'pricelake-find-'));
  empty = await mkdtemp(path.join(tmpdir(), 'pricelake-empty-'));
  await writeFile(path.join(folder, 'prices.yaml'), '');
  await writeFile(path.join(folder, 'other.yaml'), '');
});
afterAll(async () => {
  for (const path of [folder, empty]) await rm(path, { recursive: true });
});

describe('the pipeline file', () => {
  test('is the named one, or else PRICELAKE_PIPELINE, or else prices.yaml in the folder', async () => {
    const other = path.join(folder, 'other.yaml');
    const find = (named: string | undefined, env: NodeJS.ProcessEnv) => findPipeline(named, env, folder);
    expect(await find('mine.yaml', { PRICELAKE_PIPELINE: other })).toBe('mine.yaml');
    expect(await find(undefined, { PRICELAKE_PIPELINE: other })).toBe(other);
    for (const env of [{}, { PRICELAKE_PIPELINE: '' }]) {
      expect(await find(undefined, env)).toBe(path.join(folder, 'prices.yaml'));
    }
  });

  test('is an error with the searched places if none is found', async () => {
    expect(await seekPipeline(undefined, {}, empty)).toBeUndefined();
    await expect(findPipeline(undefined, {}, empty)).rejects.toMatchObject({
      code: 'config',
      message: `no pipeline file found: ${empty} doesn't contain prices.yaml, and PRICELAKE_PIPELINE is not set`,
      facts: { hint: expect.stringContaining('`pricelake init`') },
    });
  });

  test('named by PRICELAKE_PIPELINE must exist, even if another one is found', async () => {
    await expect(seekPipeline(undefined, { PRICELAKE_PIPELINE: '/none.yaml' }, folder)).rejects.toMatchObject({
      code: 'config',
      message: '/none.yaml, which PRICELAKE_PIPELINE is set to, does not exist',
    });
  });
});
