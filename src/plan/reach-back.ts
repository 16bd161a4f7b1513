/** How far before a low watermark a poll reaches: a change may show later than its time says. */
const POLL_OVERLAP_MS = 3600 * 1000;

/** A time as a poll asks for it. */
export function reachBack(time: number): string {
  return new Date(Math.max(0, time - POLL_OVERLAP_MS)).toISOString();
}
