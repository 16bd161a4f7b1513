/** Milliseconds since 1970; NaN for what is no HTTP date. An offset in place of GMT (RFC 5322) is taken as it is. */
export function readHttpDate(text: string): number {
  // Date.parse takes far more than HTTP dates: a bare "1" is the year 2001.
  const zone = /^[a-z]{3,9},? .*\d{2}:\d{2}:\d{2} (GMT|UTC|[+-]?\d{4})$/i.exec(text)?.[1];
  if (zone === undefined) return Number.NaN;
  // The asctime form ends with the year: it names no zone and means UTC.
  return Date.parse(/^\d/.test(zone) ? `${text} GMT` : text);
}
