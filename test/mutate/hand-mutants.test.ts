import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { packagePath } from '../../src/io/package-path.js';
import { HAND_MUTANTS } from './hand-mutants.js';

test.each(HAND_MUTANTS.map((mutant) => [mutant.name, mutant] as const))(
  'the code contains the place of this mutant exactly once: %s',
  async (_, mutant) => {
    const code = await readFile(packagePath(mutant.file), 'utf8');
    expect(code.split(mutant.find)).toHaveLength(2);
  },
);
