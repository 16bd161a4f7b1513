/** `bit` is the dataset's place in an item's membership mask. */
export interface DatasetEntry {
  id: number;
  bit: number;
  name: string;
  description: string | null;
}

/** The maximum number of datasets in a 32-bit mask, in addition to the sample dataset. */
export const MAX_DATASETS = 30;
const SAMPLE_BIT = 30;
export const SAMPLE_DATASET: DatasetEntry = {
  id: 1,
  bit: SAMPLE_BIT,
  name: 'Sample',
  description: 'A small sample, for test keys',
};

/** Shops of Poland, Czechia, Hungary and Romania. */
export const CENTRAL_EUROPE_MASK = 1 << 5;
/** Shops with an open licence. */
export const OPEN_DATA_MASK = 1 << 6;

/** In the order in which a plan unlocks them. */
export const ACCOUNT_DATASETS: DatasetEntry[] = [
  ['Consumer electronics', 'TV, audio, computers and phones'],
  ['Home and garden', 'Tools, kitchen and garden'],
  ['Grocery and drugstore', 'Food, drinks and care'],
  ['Books and media', null],
  ['Toys and sports', 'Jouets, hračky, zabawki – und Sport'],
  ['Central Europe', 'All shops of Poland, Czechia, Hungary and Romania'],
  ['Open prices', 'Sources under open licences; their credit text must be passed on'],
].map(([name, description], bit) => ({
  id: 11 + bit * 3,
  bit,
  name: name as string,
  description: description ?? null,
}));

export function maskOf(datasets: readonly DatasetEntry[]): number {
  return datasets.reduce((mask, dataset) => mask | (1 << dataset.bit), 0);
}
