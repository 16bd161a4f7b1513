/** Milliseconds since 1970; NaN for what is no HTTP date. */
export function readHttpDate(text: string): number {
  // Date.parse takes far more than HTTP dates (a bare "1" is the year 2001).
  if (!/^[a-z]{3,9},? .*\d{2}:\d{2}:\d{2}/i.test(text)) return Number.NaN;
  // The asctime form names no zone and means UTC.
  return Date.parse(/\d{4}$/.test(text) ? `${text} GMT` : text);
}
