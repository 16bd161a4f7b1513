import { reportStep } from '../../io/io.js';
import { listIdleRuns } from '../../journal/memory.js';
import type { Publishable } from '../../journal/run-state.js';
import { type Attribution, describeAttributions } from '../../lake/attribution.js';
import { replaceAll } from '../../lake/table-change.js';
import { columnsOf, sql } from '../../sql/sql.js';
import { type DerivedRun, describeNext } from '../derive/derive-run.js';
import { countUsage } from '../open/account.js';
import type { Engine, FoundLake, Ledger, World } from '../open/run-parts.js';
import { type NextLake, type StagedTable, Staging } from '../open/stage.js';
import type { Audited } from '../open/wings.js';
import type { Findings, NextVersion, Testimony, Watch } from '../open/witness.js';
import { describeRun, type RunRow } from './run-record.js';

/** A batch that passed all gates and will be published. */
export interface ProvedRun extends Audited {
  settled: Publishable;
  /** The lake after the run, except the tables that describe the run itself. */
  next: NextLake;
  attributions: Attribution[];
  row: RunRow;
  /** The rows to add to the runs table: a row of this run, and a row of each earlier run that found nothing new. */
  rows: readonly RunRow[];
}

/**
 * Compares the lake as this run would publish it with the service's counts and a sample of its items and products. Then
 * runs the checks.
 * @param isWaived true if the user chose to publish the batch even though gates failed
 * @throws PricelakeError `gate_failed` if a gate holds the batch
 */
export async function proveRun(
  world: World,
  found: FoundLake,
  ledger: Ledger,
  engine: Engine,
  { derived, isWaived }: { derived: DerivedRun; isWaived: boolean },
): Promise<ProvedRun> {
  const { applied, settled, attributions } = derived;
  const { landing, memory } = ledger;
  const { graph } = engine;
  return derived.next.guard(async () => {
    const hear = () => hearWitnesses(world.watches, describeNext(applied, derived.next));
    const testimonies = await reportStep(world.io, { step: 'prove', part: 'compare' }, hear);
    const staging = new Staging({ ...world, found, graph, landing }, describeAttributions(attributions));
    const next = derived.next.with(...(await stageTestimonies(staging, testimonies)));
    const items = await graph.count(await next.rows('items'));
    const usage = await countUsage({ ...world, landing });
    const witnessed = Object.assign({}, ...testimonies.map((one) => one.findings)) as Findings;
    const findings = { ...applied.comparison, witnessed, usage, items };
    const outcome = { tally: settled.tally, applied, findings };
    const row = await describeRun(world, found, landing, applied.landed, outcome);
    const rows = [...listIdleRuns(memory.state, found.tables.runs.applied.run), row];
    const run = { io: world.io, found, landing, memory, graph, next, merge: applied.merge, rows, isWaived };
    const audited = await world.audit?.(run);
    return { settled, next, attributions, row, rows, ...(audited ?? NOT_AUDITED) };
  });
}

const NOT_AUDITED: Audited = { checks: [], keep: async () => {} };

async function hearWitnesses(watches: readonly Watch[], next: NextVersion): Promise<Testimony[]> {
  const testimonies: Testimony[] = [];
  for (const { judge } of watches) if (judge !== undefined) testimonies.push(await judge(next));
  return testimonies;
}

function stageTestimonies(staging: Staging, testimonies: readonly Testimony[]): Promise<StagedTable[]> {
  const { tables } = staging.found;
  return Promise.all(
    testimonies.flatMap(({ table }) => {
      if (table === undefined) return [];
      const { name, rows } = table;
      return staging.stage(name, replaceAll(tables[name], sql`SELECT ${columnsOf(name)} FROM ${rows}`));
    }),
  );
}
