const KIB = 1024;
const MIB = 1024 * KIB;
const ROW_BYTES = 16 * MIB;

export interface ExportLimits {
  /** A longer line ends the export, because it may never end. */
  lineBytes: number;
  /** The decoded bytes that an export may have beside `bytesARow`. */
  baseBytes: number;
  /** The decoded bytes for each announced row. */
  bytesARow: number;
  /** The free space that is left for the journal, log entries and other programs. */
  reserveBytes: number;
  /**
   * The free space for typed and staged files, as a share of the landed bytes. These files take a fifth to a third of
   * them.
   */
  workShare: number;
  /** The free space is measured each time this many bytes have landed. */
  stepBytes: number;
}

const forExports: ExportLimits = {
  // Four times the largest row that can be typed, so that a row which is merely too large is rejected alone.
  lineBytes: 4 * ROW_BYTES,
  baseBytes: 16 * ROW_BYTES,
  // Rows of items have about 1 kB, rich ones about 10 kB, so a mean of 64 kB is an attack.
  bytesARow: 64 * KIB,
  reserveBytes: 64 * MIB,
  workShare: 0.5,
  stepBytes: 16 * MIB,
};

/**
 * Limits for everything that the service sends. Each is far beyond the needs of an honest service, so that only a
 * broken or hostile one reaches it (docs/reference/answers.md, "Limits").
 */
export const LIMITS = {
  /** Real pages are far smaller: 500 items take about 0.5 MB. */
  pageBytes: 256 * MIB,
  /**
   * The time limit from the headers of an answer to its end: a page of 1 MB needs 17 kB/s. Without it, trickling bytes
   * could hold a run forever, because each of them ends the wait for data.
   */
  jsonBodyMs: 60_000,
  /**
   * The fewest bytes of an export in a window of waiting: half a kilobyte per second. Two minutes allow a service to
   * count or sort before it continues.
   */
  exportPace: { windowMs: 120_000, minBytes: 64 * KIB },
  /**
   * The most consecutive empty pages that announce more. A feed that filters changes by dataset may send some, but
   * hardly a hundred, even if only one change in five thousand belongs to the dataset.
   */
  emptyPages: 100,
  /**
   * After `freePages` pages, pages that announce more must bring this many changes on average. Each page costs a call
   * and can hold a thousand changes, so a feed that crawls would use up the calls of the month.
   */
  feedPace: { freePages: 250, changesAPage: 10 },
  /** A feed may grow as fast as it is read. After this many pages, a run reads only up to the newest change at that time. */
  longFeedPages: 50,
  /** The depth that recursive code allows. Answers of the API are at most ten deep, except in `attributes`. */
  jsonDepth: 500,
  /** A larger row is rejected, because DuckDB reads no larger JSON object. */
  rowBytes: ROW_BYTES,
  /** `rejects.raw` keeps this much of a row. The landing has all of it. */
  rawCharacters: MIB,
  export: forExports,
};
