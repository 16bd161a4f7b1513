/** The facts about a reading, which is a question that the API document leaves open, and its possible answers. */
interface ReadingFacts {
  /**
   * The allowed values, the default first. With `seconds`, values are durations such as `120s`; the default is `0s`.
   */
  values: readonly [string, ...string[]] | 'seconds';
  /** One sentence that describes the choice. */
  says: string;
  /** The section of the API document that leaves the question open. */
  section: string;
  /** True if the text of rows depends on the reading, so that it can be set only at the start. */
  atStart?: true;
}

const AT_START = { atStart: true } as const;

/** All readings. They are defined apart from the parser, so that `--help` doesn't load zod. */
export const READINGS = {
  lastChangedAt: {
    ...AT_START,
    values: ['moves', 'stays'],
    says: 'whether REMOVED and RELISTED move lastChangedAt, or only a changed value does',
    section: '3',
  },
  changedSince: {
    values: ['field', 'event'],
    says: 'whether changedSince compares lastChangedAt, or the time of the latest change of any kind',
    section: '4 /items',
  },
  'changes.price': {
    ...AT_START,
    values: ['given', 'absent'],
    says: 'whether `changes` also has a changed price, or only price and previousPrice show it',
    section: '2 Change',
  },
  'changes.attributes': {
    ...AT_START,
    values: ['bare', 'prefixed'],
    says: 'whether `changes` names an attribute `stock` or `attributes.stock`',
    section: '2 Change',
  },
  'changes.category': {
    ...AT_START,
    values: ['never', 'path', 'slug'],
    says: 'whether categories change, and whether `changes` then has their path or their slug',
    section: '2 Change',
  },
  'feed.title': {
    ...AT_START,
    values: ['empty', 'null'],
    says: 'the title that the feed gives an item without one',
    section: '2 ChangeItem',
  },
  'feed.oldCursor': {
    values: ['gap', 'continue', '400', '410'],
    says: 'what the feed does with a cursor older than the history: skip to the history, continue from the cursor, or fail with 400 or 410',
    section: '4 /changes',
  },
  recentOnFree: {
    values: ['200', '402'],
    says: 'what /changes/recent returns on a plan without the feed',
    section: '4 /changes/recent',
  },
  'lag.lists': { values: 'seconds', says: 'how far /items lags behind the feed', section: '4 /items' },
  'lag.exports': { values: 'seconds', says: 'how far /export lags behind the feed', section: '4 /export' },
  'lag.facets': {
    values: 'seconds',
    says: 'how far /facets and the counts of /datasets lag behind the feed',
    section: '4 /facets',
  },
  'lag.products': {
    values: 'seconds',
    says: 'how far /products and /products/{id} lag behind the feed',
    section: '4 /products',
  },
  'lag.items': { values: 'seconds', says: 'how far /items/{id} lags behind the feed', section: '4 /items/{id}' },
  replicas: {
    values: 'seconds',
    says: 'how far each of these responses may lag in addition, at random: a later one may be older than an earlier one',
    section: '4',
  },
  'products.offers': {
    values: ['listed', 'all'],
    says: 'whether products count only listed offers, or also removed ones',
    section: '2 Product',
  },
  'export.headers': {
    values: ['whenTrue', 'always'],
    says: 'when the service sends X-Export-Overage, X-Export-Truncated and X-Export-Matching',
    section: '4 /export',
  },
  'csv.lines': { ...AT_START, values: ['lf', 'crlf'], says: 'the line ending of CSV', section: '2 Export row' },
  'csv.bom': { values: ['no', 'yes'], says: 'whether CSV begins with a byte order mark', section: '2 Export row' },
  'csv.lists': {
    ...AT_START,
    values: ['json', 'semicolon'],
    says: 'whether a list in CSV is JSON, or names separated by semicolons',
    section: '2 Export row',
  },
  'calls.refused': {
    values: ['admitted', 'never', 'always'],
    says: 'which 401, 402 and 429 responses count as calls: those that passed key, rate and quota, none, or all',
    section: '2 PlanUsage',
  },
  quotaHeaders: {
    values: ['long', 'short', 'used'],
    says: 'names such as X-Quota-Api-Calls-Remaining, X-Quota-Remaining, or X-Quota-Calls-Used',
    section: '8',
  },
  unknownDataset: {
    values: ['400', '404', 'empty'],
    says: "the response for a dataset that isn't the caller's, which the document doesn't specify",
    section: '4',
  },
  timestamps: {
    ...AT_START,
    values: ['shortest', 'seconds', 'milliseconds', 'microseconds'],
    says: 'the digits of times: microseconds without trailing zeros, or a fixed number',
    section: '1',
  },
} as const satisfies Record<string, ReadingFacts>;

export type ReadingName = keyof typeof READINGS;
/** The value of a reading: one of its choices, or a number of seconds. */
export type ReadingValue<N extends ReadingName> = (typeof READINGS)[N]['values'] extends readonly (infer V)[]
  ? V
  : number;
export const READING_NAMES = Object.keys(READINGS) as ReadingName[];

/** The maximum lag in seconds. Before the start, nothing changes for longer than this, so the state then is known. */
export const MAX_LAG = 1500;

export function factsOf(name: ReadingName): ReadingFacts {
  return READINGS[name];
}

export function describeValues(name: ReadingName): string {
  const { values } = factsOf(name);
  return values === 'seconds' ? `0s to ${MAX_LAG}s` : values.join(' | ');
}

/** Builds the help text about readings. */
export function describeReadings(): string {
  const lines = READING_NAMES.map((name) => {
    const { says, section, atStart } = factsOf(name);
    return `    ${name}=${describeValues(name)}${atStart ? ' *' : ''}\n        ${says} (section ${section})`;
  });
  return `A reading, such as lag.items=120s, sets how the service behaves where the API document leaves this open.
  The first value is the default. Readings marked * can only be set at the start:
${lines.join('\n')}`;
}
