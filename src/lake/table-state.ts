import type { Applied, CopiedDatasets } from '../tables/table.js';

/** Delta's `txn` actions: application ids and their int64 versions. Each is in the commit that makes it true. */
type Txn = ReadonlyMap<string, { version: bigint }>;

/** Application ids, which must not change because existing lakes contain them. */
const APP_IDS: Record<Exclude<keyof Applied, 'datasets'>, string> = {
  run: 'pricelake.run',
  cursor: 'pricelake.cursor',
  ahead: 'pricelake.webhook',
  polledAt: 'pricelake.polled',
  itemsVersion: 'pricelake.items',
  query: 'pricelake.query',
  declared: 'pricelake.told',
  day: 'pricelake.day',
  firstDay: 'pricelake.day.first',
  accepted: 'pricelake.accepted',
};

/** The application id that records the number of the run that wrote a commit. */
export const RUN_APP_ID = APP_IDS.run;

/** The application id for the number of datasets in the copied list; 0 or absent if all readable ones are copied. */
const LISTED = 'pricelake.datasets';
/** A prefix for a dataset's id. The version is 1 if the dataset is copied, or 0 if the key can't read it anymore. */
const DATASET = 'pricelake.dataset.';

export function decodeApplied(txn: Txn): Applied {
  const read = (name: keyof typeof APP_IDS) => txn.get(APP_IDS[name])?.version;
  return {
    run: read('run'),
    cursor: read('cursor'),
    ahead: read('ahead') ?? 0n,
    polledAt: read('polledAt') ?? 0n,
    datasets: decodeDatasets(txn),
    itemsVersion: read('itemsVersion'),
    query: read('query'),
    declared: read('declared'),
    day: read('day') ?? 0n,
    firstDay: read('firstDay'),
    accepted: read('accepted'),
  };
}

function decodeDatasets(txn: Txn): CopiedDatasets {
  const marked = [...txn].filter(([appId, { version }]) => appId.startsWith(DATASET) && version === 1n);
  const ids = marked.map(([appId]) => BigInt(appId.slice(DATASET.length)));
  return { isList: (txn.get(LISTED)?.version ?? 0n) > 0n, ids: ids.sort((a, b) => (a < b ? -1 : 1)) };
}

/** Returns the `txn` entries for values that differ from the current ones. */
export function encodeApplied({ datasets, ...others }: Partial<Applied>, before: Txn): [string, bigint][] {
  const standing = decodeApplied(before);
  const entries =
    datasets === undefined ? [] : encodeDatasets(datasets, standing.datasets, before.get(LISTED)?.version);
  for (const [name, appId] of Object.entries(APP_IDS) as [keyof typeof APP_IDS, string][]) {
    const value = others[name];
    if (value !== undefined && value !== standing[name]) entries.push([appId, value]);
  }
  return entries;
}

function encodeDatasets({ isList, ids }: CopiedDatasets, before: CopiedDatasets, listed = 0n): [string, bigint][] {
  const count = isList ? BigInt(ids.length) : 0n;
  const mark =
    (version: bigint) =>
    (id: bigint): [string, bigint] => [`${DATASET}${id}`, version];
  return [
    ...(count === listed ? [] : [[LISTED, count] as [string, bigint]]),
    ...ids.filter((id) => !before.ids.includes(id)).map(mark(1n)),
    ...before.ids.filter((id) => !ids.includes(id)).map(mark(0n)),
  ];
}
