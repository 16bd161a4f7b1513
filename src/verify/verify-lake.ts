import { PricelakeError } from '../io/errors.js';
import type { Io } from '../io/io.js';
import { explainMemory } from '../lake/faults.js';
import type { Database } from '../sql/connection.js';
import type { Lake } from '../tables/layout.js';
import { TABLE_NAMES, type TableName } from '../tables/table.js';
import type { Finding, Proof, VerifyContext } from './proof.js';
import { countProof, derivedProof } from './prove-derived.js';
import { fileProof, footerProof, orphanProof } from './prove-files.js';
import { landingProof } from './prove-landing.js';
import { cursorProof, equationProof, historyProof, keyProof } from './prove-ledger.js';
import { logProof } from './prove-logs.js';
import { pointerProof } from './prove-pointer.js';
import { rowProof } from './prove-rows.js';
import { replayTable } from './replay-log.js';
import type { ReplayedTable } from './replayed-table.js';

/** All checks, in order. The first checks compare bytes, and the last checks examine the meaning of the data. */
const PROOFS: Proof[] = [
  landingProof,
  logProof,
  fileProof,
  footerProof,
  rowProof,
  orphanProof,
  pointerProof,
  keyProof,
  cursorProof,
  equationProof,
  historyProof,
  derivedProof,
  countProof,
];

/** The maximum number of findings that are stored for each check. All findings are counted. */
const KEPT = 20;

export interface ProofResult {
  name: string;
  claims: string;
  /** The next step after a failure; undefined for the default, which is a rebuild. */
  next?: string | undefined;
  looked: bigint;
  of: string;
  found: number;
  findings: Finding[];
  notes: string[];
}

interface VerifyOptions {
  /** The maximum number of row groups to read; undefined to read all. */
  sample?: number | undefined;
  signal: AbortSignal;
}

/**
 * Checks a whole lake, using as little of the code that writes lakes as possible. Changes nothing, and needs no lock.
 * @throws PricelakeError `unavailable` if there are findings, but a run published during the verification
 */
export async function verifyLake(lake: Lake, db: Database, options: VerifyOptions, io: Io): Promise<ProofResult[]> {
  const logFindings: Finding[] = [];
  const tables = await replayTables(lake, logFindings);
  const context: VerifyContext = { lake, db, tables, logFindings, sample: options.sample, signal: options.signal, io };
  const results: ProofResult[] = [];
  for (const proof of PROOFS) results.push(await runProof(proof, context));
  if (results.some(({ found }) => found > 0)) await refuseMoved(lake, tables);
  return results;
}

async function replayTables(lake: Lake, findings: Finding[]): Promise<Map<TableName, ReplayedTable>> {
  const tables = new Map<TableName, ReplayedTable>();
  for (const table of TABLE_NAMES) {
    const replayed = await replayTable(lake, table, (finding) => findings.push(finding));
    if (replayed !== undefined) tables.set(table, replayed);
  }
  return tables;
}

async function runProof(proof: Proof, context: VerifyContext): Promise<ProofResult> {
  const { name, claims, next } = proof;
  const findings: Finding[] = [];
  let found = 0;
  const report = (finding: Finding) => {
    found += 1;
    if (findings.length < KEPT) findings.push(finding);
  };
  try {
    context.signal.throwIfAborted();
    const { count, of, notes = [] } = await explainMemory(`proof ${name}`, () => proof.prove(context, report));
    return { name, claims, next, looked: count, of, found, findings, notes };
  } catch (error) {
    context.signal.throwIfAborted();
    if (error instanceof PricelakeError && error.code === 'out_of_memory') throw error;
    // The check couldn't run because a file is missing or damaged. The `files` check reports that file.
    report({
      what: `couldn't be checked: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`,
    });
    return { name, claims, next, looked: 0n, of: '', found, findings, notes: [] };
  }
}

async function refuseMoved(lake: Lake, before: Map<TableName, ReplayedTable>): Promise<void> {
  const after = await replayTables(lake, []);
  const moved = [...after.values()].find(({ table, version }) => before.get(table)?.version !== version);
  if (moved === undefined) return;
  throw new PricelakeError('unavailable', `a run published ${moved.table} during the verification`, {
    hint: 'Run the command again.',
  });
}
