/**
 * How much of an answer is taken, and for how long: everything that comes from the service is bounded. Each figure stands
 * far beyond what an honest service needs, so that only a broken or hostile one meets it. docs/reference/answers.md, "Limits".
 */

const KIB = 1024;
const MIB = 1024 * KIB;

/** No page comes near (500 items are some 0.5 MB); a larger answer is an error before it fills the memory. */
export const MAX_PAGE_BYTES = 256 * MIB;

/**
 * A JSON answer has to be complete this long after its headers: a page of 1 MB needs 17 kB/s. Bytes that trickle would
 * otherwise hold a run for ever, since each of them ends the wait for data.
 */
export const JSON_BODY_MS = 60_000;

/**
 * An export has to bring so many bytes in so much time that is spent waiting for it: half a kilobyte a second, less than a
 * modem did. Two minutes, so that a service may count or sort before it continues.
 */
export const EXPORT_PACE = { windowMs: 120_000, minBytes: 64 * KIB };

/**
 * Pages in a row that bring nothing and say that more waits. A feed that looks through its changes for those of a dataset
 * may send some: a hundred in a row are not met by chance even where one change in five thousand is of the dataset.
 */
export const MAX_EMPTY_PAGES = 100;

/**
 * Pages that say that more waits are free up to a number; all beyond have to bring so many changes each, on average. Each
 * is a call, and they may hold a thousand: a feed that crawls towards its end would take every call that there is.
 */
export const FEED_PACE = { freePages: 250, changesAPage: 10 };

/**
 * A feed may grow as fast as it is read. After so many pages a run asks for the newest change, and reads up to that one:
 * what comes later is the next run's.
 */
export const LONG_FEED_PAGES = 50;

/** What is read by recursion may be nested so deep; no answer of the API is deeper than ten but in `attributes`. */
export const MAX_JSON_DEPTH = 500;

/** A row above this is rejected with its place: DuckDB reads no larger object of JSON. */
export const MAX_ROW_BYTES = 16 * MIB;

/** Of a rejected row so many characters are kept in `rejects.raw`; the landing has all of it. */
export const MAX_RAW_CHARACTERS = MIB;

/** What of an export's body may land. */
export interface ExportLimits {
  /** A line that is longer ends the export: its end may never come. */
  lineBytes: number;
  /** Decoded bytes, beside those a row. */
  baseBytes: number;
  /** Decoded bytes for each row that the header announced. */
  bytesARow: number;
  /** Free space that stays for the journal, the log entries and other programs. */
  reserveBytes: number;
  /** Free space for typed and staged files, as a share of what has landed. Measured: a fifth to a third. */
  workShare: number;
  /** So often the free space is looked at. */
  stepBytes: number;
}

export const EXPORT_LIMITS: ExportLimits = {
  // Four times the largest row that can be typed: one that is merely too large is rejected alone, as it should be.
  lineBytes: 4 * MAX_ROW_BYTES,
  // Sixteen rows of the largest size.
  baseBytes: 16 * MAX_ROW_BYTES,
  // Rows of items have about 1 kB, rich ones some 10 kB: a mean of 64 kB is a bomb.
  bytesARow: 64 * KIB,
  reserveBytes: 64 * MIB,
  workShare: 0.5,
  stepBytes: 16 * MIB,
};
