import type { Applied, CopiedDatasets } from '../tables/table.js';

/** The newest `txn` action by application id, from a Delta log. Its version is a 64-bit integer. */
type Txn = ReadonlyMap<string, { version: bigint }>;

/** The application ids under which commits record values. They must not change, because existing lakes use them. */
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

/** The application id under which a commit records the number of its run. */
export const RUN_APP_ID = APP_IDS.run;

/** The application id for the number of datasets in the pipeline file; 0 or absent if all datasets are copied. */
const LISTED = 'pricelake.datasets';
/** The prefix of a dataset's application id. The version is 1 if the dataset is copied, and 0 if it no longer is. */
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

/** Returns the values that differ from the recorded ones, as pairs of application id and version for `txn` actions. */
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
