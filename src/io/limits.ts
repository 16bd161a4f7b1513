const KIB = 1024;
const MIB = 1024 * KIB;
const ROW_BYTES = 16 * MIB;

export interface ExportLimits {
  /** The maximum length of a line in bytes. A longer line aborts the export, because the line might never end. */
  lineBytes: number;
  /** The number of decoded bytes that an export may have in addition to `bytesARow` for each row. */
  baseBytes: number;
  /** The number of decoded bytes that an export may have for each row that it announces. */
  bytesARow: number;
  /** The disk space that stays free for the journal, log entries and other programs. */
  reserveBytes: number;
  /** The space to leave free for typed and staged files, as a fraction of the download. They need 0.2 to 0.33. */
  workShare: number;
  /** The free disk space is measured again whenever this number of bytes has been downloaded. */
  stepBytes: number;
}

const forExports: ExportLimits = {
  // Four times the size of the largest row that can be typed. A slightly larger row doesn't abort the export.
  lineBytes: 4 * ROW_BYTES,
  baseBytes: 16 * ROW_BYTES,
  // Rows of items have about 1 kB, and large ones about 10 kB. An average of 64 kB suggests an attack.
  bytesARow: 64 * KIB,
  reserveBytes: 64 * MIB,
  workShare: 0.5,
  stepBytes: 16 * MIB,
};

/**
 * The limits for everything that the service sends. Only a broken or hostile service reaches them, because a correct
 * service stays far below each limit (docs/reference/answers.md, "Limits").
 */
export const LIMITS = {
  /** The maximum size of a page. Real pages are far smaller: 500 items have about 0.5 MB. */
  pageBytes: 256 * MIB,
  /**
   * The maximum time from a response's headers to its end. A page of 1 MB needs at least 17 kB/s. Otherwise, a service
   * that sends a few bytes at a time could delay a run forever, because each byte restarts the idle timeout.
   */
  jsonBodyMs: 60_000,
  /**
   * The minimum speed of an export: 64 KiB in every two minutes of waiting, or about half a kilobyte per second. The
   * window is two minutes long, because a service may pause to count or sort rows.
   */
  exportPace: { windowMs: 120_000, minBytes: 64 * KIB },
  /**
   * The maximum number of consecutive empty feed pages with `hasMore`. A service that filters a page's changes by
   * dataset may send some empty pages. A hundred are unlikely, even if the dataset has one change in five thousand.
   */
  emptyPages: 100,
  /**
   * After `freePages` pages, feed pages with `hasMore` must have this many changes on average. Each page costs a call
   * and can have a thousand changes, so a feed of nearly empty pages would use up the month's calls.
   */
  feedPace: { freePages: 250, changesAPage: 10 },
  /** After this many feed pages, a run sets the newest change as its end, because the feed may keep growing. */
  longFeedPages: 50,
  /** The maximum nesting depth for recursive functions. Apart from `attributes`, responses have at most ten levels. */
  jsonDepth: 500,
  /** The maximum size of a row. A larger row is rejected, because DuckDB can't read a JSON object of this size. */
  rowBytes: ROW_BYTES,
  /** The maximum length of `rejects.raw`. A longer row is shortened there, but the downloaded file has all of it. */
  rawCharacters: MIB,
  export: forExports,
};
