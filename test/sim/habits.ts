/** What a service may do this way or that way under the API document: where it says "not shown" or leaves it free. */
import type { Seeded } from '../seeded.js';

export interface Habits {
  /** Whether the plan has the change feed. */
  feed: boolean;
  ids: 'small' | 'beyond 2^53';
  changeIds: 'dense' | 'sparse';
  /** Digits of a second's fraction. */
  fraction: 0 | 3 | 6 | 9;
  utc: 'Z' | '+00:00';
  pretty: boolean;
  shuffledKeys: boolean;
  /** Null fields of resources are left out. */
  nullsLeftOut: 'nowhere' | 'in export rows' | 'everywhere';
  /** Fields that the document does not name, at the top and inside site and category. */
  unknownFields: boolean;
  escaped: boolean;
  numbers: 'plain' | 'padded' | 'exponent';
  /** Whether `changes` names the price, or holds other values in other words. */
  changeNames: 'all' | 'no price' | 'other words' | 'empty';
  titleInFeed: 'now' | 'then';
  removedPrice: 'null' | 'last';
  /** Whether REMOVED and RELISTED move lastChangedAt, so that changedSince returns them. */
  listingMovesLastChanged: boolean;
  /** Milliseconds from lastChangedAt, priceChangedAt and removedAt to the change's observedAt. */
  skewMs: number;
  shortPages: boolean;
  emptyLastPage: boolean;
  gzip: boolean;
  chunkBytes: number;
  lineEnd: '\n' | '\r\n';
  lastLine: 'ended' | 'open' | 'blank';
  shuffledRows: boolean;
  repeatedRows: boolean;
  /** named: website, category and source by name; text: attributes and datasets as text. */
  shape: 'nested' | 'camel' | 'snake' | 'dotted' | 'named' | 'text';
  length: 'content-length' | 'chunked';
  headerCase: 'lower' | 'upper' | 'mixed';
  /** 429, 503 with HTML and closed connections now and then. */
  trouble: boolean;
  rate: 'null' | 'absent' | 'fraction';
  /** The world goes on while the export runs and pages are read. */
  moving: boolean;
}

/** Habits at random; those given hold. */
export function drawHabits(random: Seeded, given: Partial<Habits> = {}): Habits {
  const maybe = () => random.fraction() < 0.5;
  return {
    feed: true,
    ids: random.pick(['small', 'beyond 2^53']),
    changeIds: random.pick(['dense', 'sparse']),
    fraction: random.pick([0, 3, 6, 9] as const),
    utc: random.pick(['Z', '+00:00']),
    pretty: maybe(),
    shuffledKeys: maybe(),
    nullsLeftOut: random.pick(['nowhere', 'in export rows', 'everywhere']),
    unknownFields: maybe(),
    escaped: maybe(),
    numbers: random.pick(['plain', 'padded', 'exponent']),
    changeNames: random.pick(['all', 'no price', 'other words', 'empty']),
    titleInFeed: random.pick(['now', 'then']),
    removedPrice: random.pick(['null', 'last']),
    listingMovesLastChanged: true,
    skewMs: 0,
    shortPages: maybe(),
    emptyLastPage: maybe(),
    gzip: maybe(),
    chunkBytes: random.pick([1, 97, 4096, 1 << 20]),
    lineEnd: random.pick(['\n', '\r\n']),
    lastLine: random.pick(['ended', 'open', 'blank']),
    shuffledRows: maybe(),
    repeatedRows: random.fraction() < 0.25,
    shape: random.pick(['nested', 'camel', 'snake', 'dotted', 'named', 'text']),
    length: random.pick(['content-length', 'chunked']),
    headerCase: random.pick(['lower', 'upper', 'mixed']),
    trouble: maybe(),
    rate: random.pick(['null', 'absent', 'fraction']),
    moving: maybe(),
    ...given,
  };
}
