/**
 * The `Retry-After` header in milliseconds from `now` (API document, section 7: "says when to try
 * again"): seconds or an HTTP date. Undefined when it is absent or neither; a date gone by is 0.
 */
export function parseRetryAfter(header: string | undefined, now: Date): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  // Date.parse takes far more than HTTP dates (a bare "1" is the year 2001).
  if (!/^[a-z]{3,9},? .*\d{2}:\d{2}:\d{2}/i.test(text)) return undefined;
  // The asctime form names no zone and means UTC.
  const at = Date.parse(/\d{4}$/.test(text) ? `${text} GMT` : text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime());
}
