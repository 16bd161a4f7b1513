import { formatCount } from '../../formats/count.js';
import { PricelakeError } from '../../io/errors.js';
import { openDamagedLake } from '../../lake/damaged-lake.js';
import { openLake } from '../../lake/lake.js';
import { refusePartial } from '../../lake/partial.js';
import { openSession } from '../../lake/session.js';
import { type ProofResult, verifyLake } from '../../verify/verify-lake.js';
import type { Arguments, CommandContext } from '../command.js';
import type { verify } from '../commands/keep.js';
import { findTarget, openPipeline } from '../find-target.js';
import { layOutTable, right } from '../output/table-layout.js';
import { toPlainLine } from '../plain-text.js';
import { paint } from '../style.js';

const MAKE_AGAIN =
  '`pricelake lake rebuild` rebuilds the tables from the saved raw data; `pricelake sync --reconcile` repairs them with data from the service.';

/** The maximum number of items to list. Items beyond this number are only counted. */
const KEPT = 20;

/** Verifies the lake. @throws PricelakeError `verify_failed` if a proof finds an error */
export async function runVerify(request: Arguments<typeof verify>, context: CommandContext) {
  const { sample, items } = request;
  const { lake: path, settings } = await findTarget(request);
  const { io, signal, json, output, style } = context;
  const { lake, isOtherFormat } = await openDamagedLake(path);
  // The proofs can't read a lake of another format version. For such a lake, `openLake` throws.
  if (isOtherFormat) await openLake(path, { create: false });
  await refusePartial(lake);
  const session = await openSession({ signal, memoryLimit: settings?.lake.memory });
  try {
    const proofs = await verifyLake(lake, session.db, { sample, signal }, io);
    if (items !== undefined) proofs.push(await compareItems(request, items, context));
    if (!json) await output.write(paint(formatProofs(proofs, output.columns), [/^FAILED/gmu, style.bad]));
    const failed = proofs.filter(({ found }) => found > 0);
    if (failed.length === 0) return { lake: lake.root, proofs };
    const names = failed.map(({ name, found }) => `${name} (${found})`).join(', ');
    throw new PricelakeError('verify_failed', `${failed.length} of ${proofs.length} proofs failed: ${names}`, {
      hint: [...new Set(failed.map(({ next = MAKE_AGAIN }) => next))].join(' '),
      proofs,
    });
  } finally {
    await session.close();
  }
}

async function compareItems(
  request: Arguments<typeof verify>,
  items: number,
  context: CommandContext,
): Promise<ProofResult> {
  const { proveItems } = await import('../../wings/sample/index.js');
  const proof = await proveItems(await openPipeline(request, context), items, context.io, context.signal);
  const differences = JSON.parse(proof.differences) as { item_id: number; differences: string[] }[];
  const ids = proof.differences.matchAll(/"item_id":(\d+)/g);
  return {
    name: 'service',
    claims: `Items match the service; with 95% confidence, at most ${(100 * proof.bound).toPrecision(2)}% of the lake's items differ.`,
    looked: proof.sampled,
    of: 'items',
    found: Number(proof.mismatches),
    notes: [],
    findings: differences.slice(0, KEPT).map(({ differences: names }) => ({
      table: 'items' as const,
      what: `${ids.next().value?.[1] ?? ''}: ${names.join(', ')}`,
    })),
  };
}

function formatProofs(proofs: ProofResult[], width: number | undefined): string {
  const rows = proofs.map(({ name, looked, of, found }) =>
    found === 0 ? ['ok', name, looked, of, ''] : ['FAILED', name, looked, of, found],
  );
  const table = layOutTable(['status', 'proof', right('checked'), '', right('findings')], rows, width);
  const notes = proofs.flatMap((proof) => proof.notes.map((note) => `${proof.name}: ${note}\n`)).join('');
  const findings = proofs.filter(({ found }) => found > 0).map(formatFindings);
  return table + (notes === '' ? '' : `\n${notes}`) + findings.join('');
}

function formatFindings({ name, claims, found, findings }: ProofResult): string {
  const lines = findings.map(({ table, file, what }) => `  ${toPlainLine(`${file ?? table ?? ''} ${what}`.trim())}\n`);
  const omitted = found > findings.length ? `  … and ${formatCount(found - findings.length)} more\n` : '';
  return `\n${name}: ${claims}\n${lines.join('')}${omitted}`;
}
