const MAX_TEXT = 300;
const MAX_URL = 500;

export type Cleaner = ReturnType<typeof createCleaner>;

/** Returns functions that clean untrusted text, and replace the API key (`secret`) in the text with `[key]`. */
export function createCleaner(secret: string) {
  const shapes = [...new Set([secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)])];
  const redact = (value: string): string => shapes.reduce((text, shape) => text.replaceAll(shape, '[key]'), value);

  /** Returns the text as one short line. Control and direction characters become spaces, and long text is cut off. */
  const text = (value: string, maxLength = MAX_TEXT): string => {
    // \p{C} matches control characters, format characters (direction marks, zero width) and unassigned characters.
    const line = redact(value.slice(0, 64 * 1024))
      .replace(/[\p{C}\s]+/gu, ' ')
      .trim();
    return line.length <= maxLength ? line : `${line.slice(0, maxLength - 1)}…`;
  };

  /** Returns the redacted URL if the value is an http(s) URL; otherwise undefined. */
  const url = (value: unknown): string | undefined => {
    if (typeof value !== 'string' || value.length > MAX_URL || !URL.canParse(value)) return undefined;
    const parsed = new URL(value);
    return ['http:', 'https:'].includes(parsed.protocol) ? redact(parsed.href) : undefined;
  };

  return { text, url, redact };
}
