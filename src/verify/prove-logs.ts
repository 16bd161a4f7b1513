import { readFile, stat } from 'node:fs/promises';
import { ignoreMissing, PricelakeError } from '../io/errors.js';
import { compareColumns, describeDifference, hasDifference } from '../lake/column-difference.js';
import { hashFile } from '../lake/data-file.js';
import { readPointer } from '../lake/pointer.js';
import { readTable } from '../lake/read.js';
import { tablePath } from '../tables/layout.js';
import { readRows } from './exact-parquet.js';
import { type Proof, type Report, readApplied, type VerifyContext } from './proof.js';
import type { ReplayedTable } from './replayed-table.js';

export const logProof: Proof = {
  name: 'logs',
  claims:
    'Every log can be replayed from its beginning; entries name their writers and are unchanged; checkpoints match the replay, and columns match schemas/; no other program changed a row.',
  async prove(context, report) {
    for (const finding of context.logFindings) report(finding);
    const pointer = await readPointer(context.lake).catch(() => undefined);
    const notes: string[] = [];
    for (const state of context.tables.values()) {
      const { table, schema, schemaString } = state;
      await readTable(context.lake, table).catch((error: unknown) => {
        if (!(error instanceof PricelakeError)) throw error;
        report({ table, what: `runs can't read its log: ${error.message}` });
      });
      const what = findDifference(schema, schemaString);
      if (what !== undefined) report({ table, what });
      notes.push(...compareForeign(state, pointer?.tables[table]?.version ?? -1n, report));
      await compareCheckpointPointer(context, state, report);
    }
    const count = [...context.tables.values()].reduce((sum, { commits }) => sum + BigInt(commits), 0n);
    return { count, of: 'commits', notes };
  },
};

function findDifference(schema: ReplayedTable['schema'], schemaString: string): string | undefined {
  try {
    const difference = compareColumns(schema, schemaString);
    return hasDifference(difference) ? describeDifference(schema.table, difference) : undefined;
  } catch (error) {
    if (error instanceof PricelakeError) return error.message;
    throw error;
  }
}

/** Reports commits of other programs that no run has repaired or followed. Returns notes on their other commits. */
function compareForeign({ table, foreign, txn }: ReplayedTable, published: bigint, report: Report): string[] {
  const repaired = readApplied({ txn }).accepted ?? -1n;
  const notes: string[] = [];
  for (const { version, name, changesRows } of foreign) {
    const isLeft = BigInt(version) <= published || BigInt(version) <= repaired;
    if (changesRows && !isLeft)
      report({ table, what: `version ${version} (${name}) changed rows, and no run repaired it` });
    else if (changesRows && BigInt(version) > repaired)
      notes.push(`${table}: version ${version} (${name}) changed rows`);
    else notes.push(`${table}: version ${version} is another program's (${name})`);
  }
  return notes;
}

/** Checks that `_last_checkpoint`, on which readers rely, names an existing checkpoint and describes it correctly. */
async function compareCheckpointPointer(
  { lake }: VerifyContext,
  { table }: ReplayedTable,
  report: Report,
): Promise<void> {
  const text = await readFile(tablePath(lake, table, '_delta_log', '_last_checkpoint'), 'utf8').catch(ignoreMissing);
  if (text === undefined) return;
  const file = `${table}/_delta_log/_last_checkpoint`;
  const pointer = readCheckpointPointer(text);
  if (pointer === undefined) return report({ table, file, what: 'is damaged' });
  const name = `${String(pointer.version).padStart(20, '0')}.checkpoint.parquet`;
  const path = tablePath(lake, table, '_delta_log', name);
  const info = await stat(path).catch(ignoreMissing);
  if (info === undefined) return report({ table, file, what: `names ${name}, which does not exist` });
  const rows = await readRows(path).catch(() => undefined);
  const adds = rows?.filter(({ add }) => add != null).length;
  const sum = pointer.tags?.['pricelake.sha256'];
  const isTrue = (said: unknown, found: unknown) => said === undefined || found === undefined || said === found;
  const facts = [
    [pointer.sizeInBytes, info.size],
    [pointer.size, rows?.length],
    [pointer.numOfAddFiles, adds],
    [sum, sum === undefined ? undefined : await hashFile(path)],
  ];
  if (!facts.every(([said, found]) => isTrue(said, found)))
    report({ table, file, what: `has another size, number of actions or checksum than ${name}` });
}

interface CheckpointPointer extends Partial<Record<'size' | 'sizeInBytes' | 'numOfAddFiles', unknown>> {
  version: number;
  tags?: Record<string, unknown> | null;
}

function readCheckpointPointer(text: string): CheckpointPointer | undefined {
  try {
    const pointer = JSON.parse(text) as CheckpointPointer;
    return Number.isSafeInteger(pointer.version) ? pointer : undefined;
  } catch {
    return undefined;
  }
}
