/** A dataset. `bit` is its position in the bit mask of an item's datasets. */
export interface DatasetEntry {
  id: number;
  bit: number;
  name: string;
  description: string | null;
}

/** The maximum number of datasets besides the sample dataset, because a 32-bit mask must hold all of them. */
export const MAX_DATASETS = 30;
const SAMPLE_BIT = 30;
export const SAMPLE_DATASET: DatasetEntry = {
  id: 1,
  bit: SAMPLE_BIT,
  name: 'Sample',
  description: 'A small sample, for test keys',
};

/** The dataset of all shops in Poland, Czechia, Hungary and Romania. */
export const CENTRAL_EUROPE_MASK = 1 << 5;
/** The dataset of shops whose prices have an open license. */
export const OPEN_DATA_MASK = 1 << 6;

/** The account's datasets. A plan includes the first ones, and a larger plan includes more of them. */
export const ACCOUNT_DATASETS: DatasetEntry[] = [
  ['Consumer electronics', 'TV, audio, computers and phones'],
  ['Home and garden', 'Tools, kitchen and garden'],
  ['Grocery and drugstore', 'Food, drinks and care'],
  ['Books and media', null],
  ['Toys and sports', 'Jouets, hračky, zabawki – und Sport'],
  ['Central Europe', 'All shops of Poland, Czechia, Hungary and Romania'],
  ['Open prices', 'Sources under open licenses; their credit text must be passed on'],
].map(([name, description], bit) => ({
  id: 11 + bit * 3,
  bit,
  name: name as string,
  description: description ?? null,
}));

export function maskOf(datasets: readonly DatasetEntry[]): number {
  return datasets.reduce((mask, dataset) => mask | (1 << dataset.bit), 0);
}
