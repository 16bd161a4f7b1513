// C0 and C1 control characters could move the cursor or change the terminal's colors. Bidirectional overrides could
// reorder a line.
// biome-ignore lint/suspicious/noControlCharactersInRegex: removing them is the purpose
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u2028\u2029]/gu;

/**
 * Makes untrusted text safe to print on one line of a terminal. Replaces line breaks and tabs with spaces, and removes
 * other control characters.
 */
export function toPlainLine(text: string): string {
  return text.replace(/\r\n|[\n\r\t\u2028\u2029]/gu, ' ').replace(UNSAFE, '');
}

/**
 * Escapes control characters as JSON does, for example as `\u001b`, so that JSON text stays equivalent. Leaves line
 * feeds and tabs as they are.
 */
export function escapeControls(text: string): string {
  return text.replace(UNSAFE, (char) =>
    char === '\n' || char === '\t' ? char : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * The control characters that pricelake itself prints: color codes, line endings, and Unicode isolates, which enclose
 * right-to-left text.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: matching them is the purpose
const OURS = /(\u001b\[\d{1,2}m|\r\n|[\u2068\u2069])/u;

/** Makes text with untrusted parts safe for a terminal. Escapes all control characters except those in `OURS`. */
export function toTerminalText(text: string): string {
  const parts = text.split(OURS);
  return parts.map((part, at) => (at % 2 === 1 ? part : escapeControls(part))).join('');
}
