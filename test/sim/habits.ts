/**
 * What a service may do this way or that way under the API document: where it says "not shown" or leaves it free. One
 * table: seeds draw from it, all pairs of its values are covered, and docs/background/readings.md has a row for each.
 */
import type { Seeded } from '../seeded.js';

interface Gap<T extends readonly unknown[]> {
  /** What the service, or the pipeline, may do. */
  about: string;
  /** The plain one first: a failure is shrunk towards it. */
  values: T;
}

function gap<const T extends readonly (string | number | boolean | null)[]>(about: string, values: T): Gap<T> {
  return { about, values };
}

const LAGS = [0, 5, 120, 600] as const;

/** Gaps of the document. */
export const READINGS = {
  feed: gap('the plan has the change feed', [true, false]),
  ids: gap('ids of items and changes fit a double or do not', ['small', 'beyond 2^53']),
  changeIds: gap('ids of changes follow on each other or leave gaps', ['dense', 'sparse']),
  fraction: gap('digits of a second in timestamps', [6, 0, 3, 9]),
  utc: gap('how UTC is written', ['Z', '+00:00']),
  pretty: gap('JSON is indented', [false, true]),
  shuffledKeys: gap('fields come in any order', [false, true]),
  nullsLeftOut: gap('null fields of resources are left out', ['nowhere', 'in export rows', 'everywhere']),
  unknownFields: gap('fields that the document does not name', [false, true]),
  escaped: gap('other letters than ASCII are escaped', [false, true]),
  numbers: gap('how a price is written', ['plain', 'padded', 'exponent']),
  changeNames: gap('how `changes` names values, and whether it holds the price', [
    'all',
    'prefixed',
    'no price',
    'other words',
    'empty',
  ]),
  namedValues: gap('a change of the price and of other values names', ['all of them', 'the price alone']),
  namesake: gap('an attribute has the name of a field', ['none', 'price', 'title']),
  categoryInFeed: gap('a category in `changes`', ['path', 'slug', 'name', 'object']),
  titleInFeed: gap('the title in the feed is of now or of then', ['now', 'then']),
  untitled: gap('the title of an untitled item in the feed', ['empty', 'null', 'left out', 'url']),
  priceInFeed: gap('the price of a change that is not of the price', ['then', 'null']),
  removedPrice: gap('the price of a removal', ['null', 'last']),
  skewMs: gap('milliseconds from lastChangedAt, priceChangedAt and removedAt to observedAt', [0, 90_000, -1500]),
  stateTimes: gap(
    'REMOVED and RELISTED move lastChangedAt; where they do not, changedSince returns such items or not',
    ['moved', 'kept', 'kept and found'],
  ),
  removedItems: gap('status=all has the items that are no longer listed', ['all', 'none']),
  noTime: gap('a time that there is not', ['null', 'year 1']),
  lastSeen: gap('lastSeenAt moves without a change', ['with changes', 'alone']),
  lagItems: gap('seconds by which /items is behind the feed', LAGS),
  lagExport: gap('seconds by which /export is behind the feed', LAGS),
  lagFacets: gap('seconds by which /facets and /datasets are behind the feed', LAGS),
  lagProducts: gap('seconds by which /products is behind the feed', LAGS),
  lagSingle: gap('seconds by which /items/{id} is behind the feed', LAGS),
  replicas: gap('each answer is from a replica up to so many seconds further behind', [0, 20, 300]),
  historyDays: gap('how far the feed reaches back', [365, 7, null]),
  oldCursor: gap('a cursor older than the history', ['goes on', 'leaves a gap', '400', '410']),
  idleCursor: gap('nextCursor of a page without changes', ['after', 'newest']),
  leaving: gap('items leave the data without an event, and come back', ['never', 'leave', 'leave and return']),
  hidden: gap('an item of the feed that cannot be read by id', [false, true]),
  exportHeaders: gap('X-Export-Overage and X-Export-Truncated', [
    'always',
    'only when true',
    '1 when true',
    'only the number that matches',
  ]),
  shortExport: gap('an export lacks rows that /items counts, and its headers agree with it', [
    'never',
    'every second row',
    'all rows',
  ]),
  quota: gap('export rows of the month', ['unlimited', 'small', 'cut', 'cut to zero', 'none']),
  usage: gap('usage in /plan', ['told', 'null']),
  countsRefusals: gap('answers 401, 402 and 429 count as calls', [false, true]),
  quotaHeaders: gap('names of RateLimit-* and X-Quota-* headers', ['classic', 'structured', 'few']),
  recentOnFree: gap('/changes/recent on Free', ['200', '402', '404']),
  removedOffers: gap('products count removed offers', [false, true]),
  gtins: gap('GTINs have other lengths', ['13 and padded', 'also 12 and 8']),
  grouping: gap('offers with and without a GTIN of one brand and part number', ['apart', 'together']),
  facetZeros: gap('facets without items', ['shown', 'left out']),
  datasetNames: gap('names of datasets', ['plain', 'with separators']),
  unknownDataset: gap('a dataset that there is not', ['404', '400', 'empty page']),
  csvLists: gap('lists in CSV', ['json', ';', '; ', '|']),
  csvMark: gap('CSV begins with a byte order mark', [false, true]),
  csvQuotes: gap('texts in CSV stand in quotes', ['where needed', 'always']),
  shortPages: gap('feed pages hold fewer changes than asked for', [false, true]),
  deniesMore: gap('hasMore is false behind changes, though others wait', [false, true]),
  lastCursor: gap('nextCursor of the last page', ['told', 'null']),
  scannedChanges: gap('changes that the feed looks through for a page: of none of them it may be asked for', [null, 8]),
  lateChanges: gap(
    'seconds by which every ninth change becomes visible late, behind changes that the feed has shown',
    [0, 300],
  ),
  sinceDigits: gap('digits of a second that changedSince may have', ['any', 'three']),
  planStatus: gap('the status of the plan is one of the document', ['listed', 'other']),
  emptyLastPage: gap('hasMore is true before an empty page', [false, true]),
  gzip: gap('answers are compressed', [false, true]),
  chunkBytes: gap('bytes of a chunk of an export', [1 << 20, 4096, 97, 1]),
  lineEnd: gap('line ends of exports', ['\n', '\r\n']),
  lastLine: gap('how an export ends', ['ended', 'open', 'blank']),
  blankLines: gap('lines of white space in NDJSON', ['none', 'empty', 'spaces']),
  shuffledRows: gap('export rows come in any order', [false, true]),
  repeatedRows: gap('an item in two datasets has two export rows', [false, true]),
  shape: gap('fields of export rows', ['nested', 'camel', 'snake', 'dotted', 'named', 'text']),
  length: gap('answers tell their length', ['content-length', 'chunked']),
  headerCase: gap('case of header names', ['lower', 'upper', 'mixed']),
  trouble: gap('429, 503 with HTML and closed connections now and then', [false, true]),
  rate: gap('ratePerSecond', ['null', 'absent', 'fraction']),
  delayHours: gap('the limit delayHours', ['absent', '0', '24']),
  clock: gap("the service's clock and this machine's", ['same', 'machine behind', 'machine ahead', 'no Date header']),
  removedItem: gap('the item of a removal in the feed', ['named', 'null']),
  kinds: gap('kinds of changes that the document does not name', ['none', 'some']),
  badRows: gap('rows that can not be typed', ['none', 'in exports', 'in the feed']),
  moving: gap('the world goes on while the export runs and pages are read', [false, true]),
} as const;

/** How the pipeline is set and what happens to the world, beside what the service does. */
export const SETTINGS = {
  mode: gap('source.mode of the runs after the first', ['auto', 'snapshot', 'poll']),
  format: gap('source.export', ['ndjson', 'csv']),
  history: gap('source.history', ['feed', 'none']),
  scope: gap('source.datasets', ['all', 'two']),
  splitAbove: gap('source.splitAbove', [1_000_000, 5]),
  daily: gap('analysis.daily in days', [0, 5]),
  pause: gap('days without a run, while the world goes on', [0, 10]),
  renaming: gap('datasets get other names between runs', [false, true]),
} as const;

export const HABITS = { ...READINGS, ...SETTINGS } as const;
export type HabitName = keyof typeof HABITS;
export type Habits = { -readonly [K in HabitName]: (typeof HABITS)[K]['values'][number] };
export type HabitValue = Habits[HabitName];

export const HABIT_NAMES = Object.keys(HABITS) as HabitName[];

export function valuesOf(name: HabitName): readonly HabitValue[] {
  return HABITS[name].values;
}

/** The first value of each: a service as plain as it can be. */
export const PLAIN = Object.fromEntries(HABIT_NAMES.map((name) => [name, valuesOf(name)[0]])) as unknown as Habits;

/** The plain habits but for a few: which these are, and their values, are random. */
export function drawFew(random: Seeded, count: number): Habits {
  const names = [...HABIT_NAMES];
  const few = Array.from({ length: count }, (): [HabitName, HabitValue] => {
    const [name = 'feed'] = names.splice(random.integer(names.length), 1);
    return [name, random.pick(valuesOf(name).slice(1))];
  });
  return { ...PLAIN, ...Object.fromEntries(few) };
}

/** The longest that any answer is behind what has happened, beside the feed's usual delay, in seconds. */
export function largestLag(habits: Habits): number {
  const { lagItems, lagExport, lagFacets, lagProducts, lagSingle, replicas, lateChanges } = habits;
  return Math.max(lagItems, lagExport, lagFacets, lagProducts, lagSingle, lateChanges) + replicas;
}
