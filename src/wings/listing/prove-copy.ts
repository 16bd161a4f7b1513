import { isNamedId } from '../../formats/row-id.js';
import type { Landing } from '../../journal/landings.js';
import { countCallsLeft } from '../../plan/allowance.js';
import { loadFacets } from '../../run/land/facets.js';
import type { Account } from '../../run/open/account.js';
import type { Absence, ListedRun } from '../../run/open/wings.js';
import { allowSkipping } from '../../source/allow-skipping.js';
import type { LandedDatasets } from '../../source/datasets.js';
import { listItemFiles, readLandedIds } from '../../source/item-files.js';
import type { RelationGraph } from '../../sql/graph.js';
import type { Relation } from '../../sql/relation.js';
import { code, type Sql, sql, writeTyped } from '../../sql/sql.js';
import { LAG_MS } from '../../tables/table.js';
import { countTyped, type ItemReads } from '../../typing/typed-rows.js';
import { type CopyVerdict, judgeCopy, type MissingReads } from './judge-copy.js';
import { landSingles } from './land-readings.js';

/** A typed full copy, and what it is compared with, such as the lake's items and the service's counts. */
interface ProvedCopy extends Pick<ListedRun, 'items' | 'changes' | 'pending' | 'names'> {
  exported: ItemReads;
  landedRows: bigint;
  /** The response of `/facets`. Undefined if `/facets` wasn't requested. */
  facets: string | undefined;
  /** The datasets that were copied because they are new to the lake. Undefined if all items were copied. */
  added: LandedDatasets['datasets'] | undefined;
  at: string;
}

/** Returns the full copy that the run has made of all items or of new datasets; undefined if it made none. */
async function findCopy(run: ListedRun): Promise<ProvedCopy | undefined> {
  const { landed, landing, typing, reader, items, changes, pending, names, moment } = run;
  const { mode } = landed;
  const added = mode === 'feed' ? run.datasets.filter(({ id }) => landed.added.includes(id)) : undefined;
  if (mode === 'poll' || added?.length === 0) return undefined;
  const { facets } = landing.journal.state.comparisons;
  const files = await typing.finish();
  const rows = { exported: await reader.exported(files), landedRows: countTyped(files), items };
  return { ...rows, changes, pending, names, facets, added, at: moment.serviceAt ?? moment.at };
}

type Asking = Pick<ListedRun, 'client' | 'io'>;

/** The number of missing items of each state that are read first, to see if the service still returns them. */
const SAMPLE = 10n;
/** If the service returns any of the first items, up to this number are read, with a share of the remaining calls. */
const MOST_READS = 500n;

/**
 * Compares a full copy with the service's counts. Reads some of the known items that the copy lacks (API §4,
 * /items/{id}, which also returns removed items), and adds the items that the service returns to the copy. Records in
 * the journal for how many items the listing state stays unknown (`listing.done`).
 */
export async function proveCopy(run: ListedRun): Promise<Absence> {
  const { landing, graph, typing } = run;
  const { account } = run.landed;
  const copy = await findCopy(run);
  if (copy === undefined) return { listed: false, removed: false };
  if (copy.added !== undefined) {
    if (account !== undefined) await proveAdded(run, landing, graph, copy, copy.added);
    return { listed: false, removed: false };
  }
  const { journal } = landing;
  const isWhole = copy.exported.tally.typed === copy.landedRows;
  const { missing, recent } = isWhole ? await findMissing(graph, copy) : NO_GAP;
  const isDone = journal.state.listing.done !== undefined || account === undefined;
  if (missing !== undefined && !isDone) await readMissing(run, landing, graph, account, missing);
  for (const file of listItemFiles(landing, 'listing')) typing.addItems({ ...file, origin: 'page' });
  const counts = { ...(await countListed(graph, copy)), counted: await countFacets(graph, copy) };
  const verdict = judgeCopy(counts, { ...(await countReads(graph, landing, missing)), recent });
  if (account !== undefined) await noteVerdict(run, landing, verdict);
  return verdict.provesAbsence;
}

/** Records in the journal for how many items the listing state stays unknown, and why. */
async function noteVerdict(
  { client, io }: Asking,
  { journal }: Landing,
  { unknown, reason }: Pick<CopyVerdict, 'unknown' | 'reason'>,
): Promise<void> {
  if (reason === '' || journal.state.listing.done !== undefined) return;
  await journal.append({ type: 'listing.done', unknown, reason, calls: client.calls() });
  io.log('warn', 'copy.incomplete', { unknown, reason });
}

/** Compares the copies of new datasets with the service's counts in `/datasets` (API §2, Dataset: `items`). */
async function proveAdded(
  world: Asking,
  landing: Landing,
  graph: RelationGraph,
  copy: ProvedCopy,
  added: LandedDatasets['datasets'],
): Promise<void> {
  const verdicts: CopyVerdict[] = [];
  for (const { name, items: counted } of added) {
    // A row that names no datasets is counted too, because rows don't have to name their datasets.
    const isOfIt = sql`coalesce(len(datasets), 0) = 0 OR list_contains(datasets, ${name})`;
    const counts = { ...(await countListed(graph, copy, isOfIt)), counted, counter: '/datasets' };
    verdicts.push(judgeCopy(counts, { listed: NONE, removed: NONE, recent: 0n }));
  }
  const unknown = verdicts.reduce((sum, one) => sum + one.unknown, 0n);
  const reasons = verdicts.flatMap(({ reason }) => (reason === '' ? [] : reason));
  await noteVerdict(world, landing, { unknown, reason: reasons.join('; ') });
}

const NONE: MissingReads = { missing: 0n, read: 0n, found: 0n };

/** Returns the number of listed items according to `/facets`. Returns undefined if `/facets` wasn't requested. */
async function countFacets(graph: RelationGraph, { facets }: ProvedCopy): Promise<bigint | undefined> {
  if (facets === undefined) return undefined;
  const row = await graph.row(
    sql`SELECT coalesce(sum(items), 0)::BIGINT AS items FROM ${loadFacets(graph, facets)} WHERE facet = 'site'`,
  );
  return row?.items as bigint;
}

async function countListed(
  graph: RelationGraph,
  { exported, landedRows, changes, at }: ProvedCopy,
  isCounted: Sql = sql`true`,
) {
  const copied = await graph.row(sql`SELECT count(*) AS listed,
      coalesce(sum(greatest(1, len(datasets))), 0)::BIGINT AS by_dataset
    FROM ${exported.rows} WHERE is_listed AND (${isCounted})`);
  const moved = await graph.count(sql`FROM ${changes} WHERE kind <> 'CHANGED'
    AND observed_at >= CAST(${at} AS TIMESTAMP WITH TIME ZONE) - INTERVAL ${LAG_MS} MILLISECOND`);
  return {
    listed: copied?.listed as bigint,
    listedByDataset: copied?.by_dataset as bigint,
    moved: moved + landedRows - exported.tally.typed,
  };
}

/** The known items that are missing from a copy. */
interface Gap {
  missing: Relation | undefined;
  /** The number of missing items that are listed but became known so recently that the copy may lag behind. */
  recent: bigint;
}

const NO_GAP: Gap = { missing: undefined, recent: 0n };

/**
 * Finds the items that the copy lacks. An item should be in the copy if it is in the lake, or if a change of this run
 * mentions it. Skips items with changes that this run will apply.
 */
async function findMissing(graph: RelationGraph, copy: ProvedCopy): Promise<Gap> {
  const { exported, items, changes, pending, names, at } = copy;
  const readable =
    names.readable === undefined
      ? sql``
      : sql` AND (coalesce(len(datasets), 0) = 0
          OR list_has_all(${code(writeTyped('VARCHAR[]', names.readable))}, datasets))`;
  const lacking = graph.table(
    'lacking_known',
    sql`SELECT item_id, is_listed,
        coalesce(seen_at >= CAST(${at} AS TIMESTAMP WITH TIME ZONE) - INTERVAL ${LAG_MS} MILLISECOND, false) AS is_recent
      FROM (
        SELECT item_id, is_listed, first_seen_at AS seen_at FROM ${items} WHERE gone_at IS NULL${readable}
        UNION ALL
        SELECT item_id, arg_max(kind, change_id) <> 'REMOVED', max(observed_at)
        FROM ${changes} ANTI JOIN ${items} USING (item_id) WHERE item_id IS NOT NULL GROUP BY item_id
      ) ANTI JOIN ${exported.rows} USING (item_id) ANTI JOIN ${pending} USING (item_id)`,
  );
  const missing = graph.table('missing_known', sql`SELECT item_id, is_listed FROM ${lacking} WHERE NOT is_recent`);
  return {
    missing: (await graph.count(missing)) === 0n ? undefined : missing,
    recent: await graph.count(sql`FROM ${lacking} WHERE is_recent AND is_listed`),
  };
}

/** Reads some of the missing items one by one. If a call fails, the rest isn't read. */
async function readMissing(
  { client, io }: Asking,
  landing: Landing,
  graph: RelationGraph,
  { gate }: Account,
  missing: Relation,
): Promise<void> {
  const read = async (limit: bigint) => {
    const before = new Set(await listRead(landing));
    const rows = await graph.rows(sql`SELECT item_id FROM ${missing}
      QUALIFY row_number() OVER (PARTITION BY is_listed ORDER BY hash(item_id, ${landing.runId})) <= ${limit}`);
    const ids = rows.map(({ item_id }) => item_id as bigint).filter((id) => !before.has(id));
    await landSingles({ client, dataset: undefined }, landing, ids, io);
  };
  try {
    await read(SAMPLE);
    if (landing.journal.state.pages.listing.rows === 0n) return;
    const left = countCallsLeft(gate.left(), BigInt(client.calls()));
    const share = left === null ? MOST_READS : left / 20n;
    if (share > SAMPLE) await read(share < MOST_READS ? share : MOST_READS);
  } catch (error) {
    const { code, message } = allowSkipping(error);
    io.log('warn', 'copy.unproved', { code, reason: message });
  }
}

/** Lists the items that were read one by one. Includes items that the service no longer returns. */
async function listRead(landing: Landing): Promise<bigint[]> {
  const ids = [...landing.journal.state.listing.gone];
  for (const { path } of listItemFiles(landing, 'listing')) {
    for await (const id of readLandedIds(path, isNamedId)) ids.push(id);
  }
  return ids;
}

async function countReads(
  graph: RelationGraph,
  landing: Landing,
  missing: Relation | undefined,
): Promise<Record<'listed' | 'removed', MissingReads>> {
  if (missing === undefined) return { listed: NONE, removed: NONE };
  const { gone } = landing.journal.state.listing;
  const within = (ids: readonly bigint[]) => sql`item_id IN (${code(ids.join(', ') || 'NULL')})`;
  const rows = await graph.rows(sql`SELECT is_listed, count(*) AS missing,
      count(*) FILTER (${within(await listRead(landing))}) AS read, read - count(*) FILTER (${within(gone)}) AS found
    FROM ${missing} GROUP BY is_listed`);
  const find = (isListed: boolean) =>
    (rows.find(({ is_listed }) => is_listed === isListed) as MissingReads | undefined) ?? NONE;
  return { listed: find(true), removed: find(false) };
}
