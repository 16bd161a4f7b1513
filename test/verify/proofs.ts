/** Reads the results of `pricelake verify`, and damages files for it. */
import { readFile, writeFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { runVerify } from '../../src/cli/actions/run-verify.js';
import type { PricelakeError } from '../../src/io/errors.js';
import { realIo } from '../../src/io/real-io.js';
import { Database } from '../../src/sql/connection.js';
import type { Lake } from '../../src/tables/layout.js';
import { TABLE_NAMES, type TableName } from '../../src/tables/table.js';
import type { Finding } from '../../src/verify/proof.js';
import { logProof } from '../../src/verify/prove-logs.js';
import { replayTable } from '../../src/verify/replay-log.js';
import type { ReplayedTable } from '../../src/verify/replayed-table.js';
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
  return Object.fromEntries(failed.map(({ name, findings }) => [name, toLines(findings)]));
}

const toLines = (findings: readonly Finding[]) =>
  findings.map(({ table, file, what }) => `${file ?? table} ${what}`).join('\n');

/** The findings of the proof of logs, without the other proofs, which take most of the time of `verify`. */
export async function findLogFaults(lake: Lake): Promise<string> {
  const logFindings: Finding[] = [];
  const tables = new Map<TableName, ReplayedTable>();
  for (const table of TABLE_NAMES) {
    const replayed = await replayTable(lake, table, (finding) => logFindings.push(finding));
    if (replayed !== undefined) tables.set(table, replayed);
  }
  const db = await Database.open();
  try {
    const { signal } = new AbortController();
    const findings: Finding[] = [];
    const context = { lake, db, tables, logFindings, sample: undefined, signal, io: realIo };
    await logProof.prove(context, (finding) => findings.push(finding));
    return toLines(findings);
  } finally {
    await db.close();
  }
}

export async function edit(file: string, change: (text: string) => string): Promise<void> {
  const text = await readFile(file, 'latin1');
  expect(change(text)).not.toBe(text);
  await writeFile(file, change(text), 'latin1');
}
