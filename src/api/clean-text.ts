const MAX_TEXT = 300;
const MAX_URL = 500;

/** Cleans texts from outside, and takes the key out should they repeat it. */
export interface Cleaner {
  /** One short line: control and direction characters become spaces, a long text is cut. */
  text(value: string, maxLength?: number): string;
  /** An http(s) address; undefined for anything else. */
  url(value: unknown): string | undefined;
  /** The value without the key, otherwise unchanged. */
  redact(value: string): string;
}

export function createCleaner(secret: string): Cleaner {
  const shapes = [...new Set([secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)])];
  const redact = (value: string) => shapes.reduce((text, shape) => text.replaceAll(shape, '[key]'), value);

  const text = (value: string, maxLength = MAX_TEXT) => {
    // \p{C}: control, format (direction marks, zero width) and unassigned characters.
    const line = redact(value.slice(0, 64 * 1024))
      .replace(/[\p{C}\s]+/gu, ' ')
      .trim();
    return line.length <= maxLength ? line : `${line.slice(0, maxLength - 1)}…`;
  };

  const url = (value: unknown) => {
    if (typeof value !== 'string' || value.length > MAX_URL || !URL.canParse(value)) return undefined;
    const parsed = new URL(value);
    return ['http:', 'https:'].includes(parsed.protocol) ? redact(parsed.href) : undefined;
  };

  return { text, url, redact };
}
