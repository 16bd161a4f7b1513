const KIB = 1024;
const MIB = 1024 * KIB;
const ROW_BYTES = 16 * MIB;

export interface ExportLimits {
  /** The maximum length of a line. A longer line ends the export, because it may never end. */
  lineBytes: number;
  /** The number of decoded bytes that an export may have in addition to `bytesARow` for each row. */
  baseBytes: number;
  /** The number of decoded bytes allowed for each announced row. */
  bytesARow: number;
  /** The disk space to leave free for the journal, log entries and other programs. */
  reserveBytes: number;
  /**
   * The disk space to leave free for typed and staged files, as a share of the downloaded bytes. In practice they need
   * 20 to 33%.
   */
  workShare: number;
  /** Free disk space is measured each time this many bytes have been downloaded. */
  stepBytes: number;
}

const forExports: ExportLimits = {
  // Four times the largest row that can be typed, so that a row that is only somewhat too large is rejected by itself.
  lineBytes: 4 * ROW_BYTES,
  baseBytes: 16 * ROW_BYTES,
  // Item rows are about 1 kB, rich ones about 10 kB, so a mean of 64 kB suggests an attack.
  bytesARow: 64 * KIB,
  reserveBytes: 64 * MIB,
  workShare: 0.5,
  stepBytes: 16 * MIB,
};

/**
 * Limits for everything that the service sends. Each is far beyond the needs of a well-behaved service, so that only a
 * broken or hostile one reaches it (docs/reference/answers.md, "Limits").
 */
export const LIMITS = {
  /** The maximum size of a page. Real pages are far smaller: 500 items take about 0.5 MB. */
  pageBytes: 256 * MIB,
  /**
   * The time limit from a response's headers to its end; a page of 1 MB then needs 17 kB/s. Without it, a service that
   * sends a few bytes at a time could hold a run forever, because each byte restarts the idle timeout.
   */
  jsonBodyMs: 60_000,
  /**
   * The minimum pace of an export: 64 KiB in each two minutes of waiting, about half a kilobyte per second. Two minutes
   * give a service time to count or sort before it continues.
   */
  exportPace: { windowMs: 120_000, minBytes: 64 * KIB },
  /**
   * The maximum number of consecutive empty pages with `hasMore`. A feed that filters changes by dataset may send some,
   * but hardly a hundred, even if only one change in five thousand belongs to the dataset.
   */
  emptyPages: 100,
  /**
   * After `freePages` pages, pages with `hasMore` must contain this many changes on average. Each page costs a call and
   * can hold a thousand changes, so a feed of nearly empty pages would use up the month's calls.
   */
  feedPace: { freePages: 250, changesAPage: 10 },
  /** The number of pages after which a run only reads to the newest change at that time, as a feed may keep growing. */
  longFeedPages: 50,
  /** The maximum nesting depth for recursive code. API responses are at most ten deep, except `attributes`. */
  jsonDepth: 500,
  /** The maximum size of a row. A larger row is rejected, because DuckDB can't read a larger JSON object. */
  rowBytes: ROW_BYTES,
  /** The maximum length of `rejects.raw`. The downloaded file has the complete row. */
  rawCharacters: MIB,
  export: forExports,
};
