/**
 * Limits for everything that comes from the service. Each is far beyond the needs of an honest service, so that only a
 * broken or hostile one meets it (docs/reference/answers.md, "Limits").
 */

const KIB = 1024;
const MIB = 1024 * KIB;

/** Pages are far smaller: 500 items have about 0.5 MB. */
export const MAX_PAGE_BYTES = 256 * MIB;

/**
 * Time from an answer's headers to its end: a page of 1 MB needs 17 kB/s. Without it, trickling bytes could hold a run
 * for ever, because each of them ends the wait for data.
 */
export const JSON_BODY_MS = 60_000;

/**
 * Fewest bytes of an export in a window of waiting: half a kilobyte a second. Two minutes let a service count or sort
 * before it continues.
 */
export const EXPORT_PACE = { windowMs: 120_000, minBytes: 64 * KIB };

/**
 * Most empty pages in a row that say that more waits. A feed that filters changes by dataset may send some, but hardly
 * a hundred in a row, even if one change in five thousand is of the dataset.
 */
export const MAX_EMPTY_PAGES = 100;

/**
 * Beyond `freePages`, pages that say that more waits must bring this many changes on average. Each page is a call and
 * may hold a thousand changes, so a feed that crawls would take all calls of the month.
 */
export const FEED_PACE = { freePages: 250, changesAPage: 10 };

/**
 * A feed may grow as fast as it is read. After this many pages, a run reads only up to the newest change of that time.
 */
export const LONG_FEED_PAGES = 50;

/** Depth for recursive code. Answers of the API are ten deep at most, except in `attributes`. */
export const MAX_JSON_DEPTH = 500;

/** A larger row is rejected, because DuckDB reads no larger JSON object. */
export const MAX_ROW_BYTES = 16 * MIB;

/** `rejects.raw` keeps this much of a row; the landing has all of it. */
export const MAX_RAW_CHARACTERS = MIB;

export interface ExportLimits {
  /** A longer line ends the export, because its end may never come. */
  lineBytes: number;
  /** Decoded bytes that an export may have beside `bytesARow`. */
  baseBytes: number;
  /** Decoded bytes for each announced row. */
  bytesARow: number;
  /** Free space that stays for the journal, log entries and other programs. */
  reserveBytes: number;
  /** Free space for typed and staged files, as a share of landed bytes. They take a fifth to a third. */
  workShare: number;
  /** The free space is measured each time so many bytes have landed. */
  stepBytes: number;
}

export const EXPORT_LIMITS: ExportLimits = {
  // Four times the largest row that can be typed, so that a row that is merely too large is rejected alone.
  lineBytes: 4 * MAX_ROW_BYTES,
  baseBytes: 16 * MAX_ROW_BYTES,
  // Rows of items have about 1 kB, rich ones about 10 kB, so a mean of 64 kB is a bomb.
  bytesARow: 64 * KIB,
  reserveBytes: 64 * MIB,
  workShare: 0.5,
  stepBytes: 16 * MIB,
};
