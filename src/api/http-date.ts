/** Milliseconds since 1970; NaN for what is no HTTP date. */
export function readHttpDate(text: string): number {
  // Date.parse takes far more than HTTP dates (a bare "1" is the year 2001), and other zones.
  if (!/^[a-z]{3,9},? .*\d{2}:\d{2}:\d{2} (?:GMT|UTC|\d{4})$/i.test(text)) return Number.NaN;
  // The asctime form names no zone and means UTC; for the others it is said twice.
  return Date.parse(`${text} GMT`);
}
