import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database } from '../../duckdb/connection.js';
import { PricelakeError } from '../../errors.js';
import { openLake } from '../../lake/lake.js';
import type { Finding } from '../../verify/proof.js';
import { type ProofResult, verifyLake } from '../../verify/verify-lake.js';
import { layOutTable } from '../output/table-layout.js';
import { toPlainLine } from '../plain-text.js';
import { formatCount } from '../progress.js';
import type { CommandContext, CommandReport } from '../run-command.js';

export interface VerifyRequest {
  lake: string;
  sample?: number | undefined;
}

const MEMORY_LIMIT = '800MB';

/**
 * Proves a lake whole and shows what was looked at and found.
 * @throws PricelakeError `verify_failed` when something is not as it must be.
 */
export async function runVerify(
  { lake: path, sample }: VerifyRequest,
  context: CommandContext,
): Promise<CommandReport> {
  if (sample !== undefined && !(Number.isSafeInteger(sample) && sample >= 0)) {
    throw new PricelakeError('usage', `--sample ${sample} is not a whole number, 0 or more`);
  }
  const { io, signal, json, output } = context;
  const lake = await openLake(path, { create: false });
  const tempDirectory = await mkdtemp(join(tmpdir(), 'pricelake-'));
  const db = await Database.open({ tempDirectory, memoryLimit: MEMORY_LIMIT });
  try {
    const proofs = await verifyLake(lake, db, { sample, signal }, io);
    if (!json) await output.write(formatProofs(proofs, output.columns));
    const failed = proofs.filter(({ found }) => found > 0);
    if (failed.length === 0) return { lake: lake.root, proofs };
    const names = failed.map(({ name, found }) => `${name} (${found})`).join(', ');
    throw new PricelakeError('verify_failed', `${failed.length} of ${proofs.length} proofs failed: ${names}`, {
      hint: '`pricelake rebuild` makes the tables anew from the kept raw bytes; `pricelake sync --reconcile` from the service.',
      proofs,
    });
  } finally {
    db.close();
    await rm(tempDirectory, { recursive: true, force: true });
  }
}

function formatProofs(proofs: ProofResult[], width: number | undefined): string {
  const rows = proofs.map(({ name, looked, of, found }) => [
    found === 0 ? 'ok' : 'FAILED',
    name,
    formatCount(looked),
    of,
    found === 0 ? '' : formatCount(found),
  ]);
  const table = layOutTable(
    ['status', 'proof', 'looked at', '', 'findings'],
    rows,
    ['left', 'left', 'right', 'left', 'right'],
    width,
  );
  return (
    table +
    proofs
      .filter(({ found }) => found > 0)
      .map(formatFindings)
      .join('')
  );
}

function formatFindings({ name, claims, found, findings }: ProofResult): string {
  const lines = findings.map((finding) => `  ${toPlainLine(formatFinding(finding))}\n`);
  const more = found > findings.length ? `  … and ${formatCount(found - findings.length)} more\n` : '';
  return `\n${name}: ${claims}\n${lines.join('')}${more}`;
}

function formatFinding({ table, file, what }: Finding): string {
  return `${file ?? table ?? ''} ${what}`.trim();
}
