/** Reads the results of `pricelake verify`, and damages files for it. */
import { readFile, writeFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { runVerify } from '../../src/cli/actions/run-verify.js';
import type { PricelakeError } from '../../src/io/errors.js';
import type { ProofResult } from '../../src/verify/verify-lake.js';
import { openContext } from '../cli/open-context.js';

/** All proofs, even if some fail. */
export async function readProofs(lake: string, sample?: number): Promise<ProofResult[]> {
  return runVerify({ lake, sample }, openContext(true)).then(
    (report) => report.proofs as ProofResult[],
    (error: PricelakeError) => {
      expect(error.code, error.message).toBe('verify_failed');
      return error.facts.proofs as ProofResult[];
    },
  );
}

/** Failed proofs with their findings, one in each line. */
export async function findFaults(lake: string, sample?: number): Promise<Record<string, string>> {
  const failed = (await readProofs(lake, sample)).filter(({ found }) => found > 0);
  const lines = ({ findings }: ProofResult) => findings.map(({ table, file, what }) => `${file ?? table} ${what}`);
  return Object.fromEntries(failed.map((proof) => [proof.name, lines(proof).join('\n')]));
}

export async function edit(file: string, change: (text: string) => string): Promise<void> {
  const text = await readFile(file, 'latin1');
  expect(change(text)).not.toBe(text);
  await writeFile(file, change(text), 'latin1');
}
