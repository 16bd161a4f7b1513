// C0 and C1 controls could move the cursor or recolour the terminal; bidirectional overrides could reorder a line.
// biome-ignore lint/suspicious/noControlCharactersInRegex: removing them is the purpose
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u2028\u2029]/gu;

/** Untrusted text made safe for one line of a terminal: line breaks and tabs become spaces, other controls vanish. */
export function toPlainLine(text: string): string {
  return text.replace(/\r\n|[\n\r\t\u2028\u2029]/gu, ' ').replace(UNSAFE, '');
}

/**
 * Untrusted text with its controls shown as in JSON (`\u001b`); line breaks and tabs stay. In JSON text the value is
 * the same.
 */
export function escapeControls(text: string): string {
  return text.replace(UNSAFE, (char) =>
    char === '\n' || char === '\t' ? char : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Our own controls: colours, ends of lines, and isolates around right-to-left text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: telling them from others is the purpose
const OURS = /(\u001b\[\d{1,2}m|\r\n|[\u2068\u2069])/u;

/** Text for a terminal, whoever's words are in it: controls other than our own can't do anything. */
export function toTerminalText(text: string): string {
  const parts = text.split(OURS);
  return parts.map((part, at) => (at % 2 === 1 ? part : escapeControls(part))).join('');
}
