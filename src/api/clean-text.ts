const MAX_TEXT = 300;
const MAX_URL = 500;

export type Cleaner = ReturnType<typeof createCleaner>;

/** Cleans texts from outside, and removes the key if they repeat it. */
export function createCleaner(secret: string) {
  const shapes = [...new Set([secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)])];
  const redact = (value: string): string => shapes.reduce((text, shape) => text.replaceAll(shape, '[key]'), value);

  /** Makes one short line: control and direction characters become spaces, and a long text is cut. */
  const text = (value: string, maxLength = MAX_TEXT): string => {
    // \p{C}: control, format (direction marks, zero width) and unassigned characters.
    const line = redact(value.slice(0, 64 * 1024))
      .replace(/[\p{C}\s]+/gu, ' ')
      .trim();
    return line.length <= maxLength ? line : `${line.slice(0, maxLength - 1)}…`;
  };

  /** Returns an http(s) address; undefined for any other text. */
  const url = (value: unknown): string | undefined => {
    if (typeof value !== 'string' || value.length > MAX_URL || !URL.canParse(value)) return undefined;
    const parsed = new URL(value);
    return ['http:', 'https:'].includes(parsed.protocol) ? redact(parsed.href) : undefined;
  };

  return { text, url, redact };
}
