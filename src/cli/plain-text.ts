// C0 and C1 controls could move the cursor or recolour the terminal; bidirectional overrides could reorder a line.
// biome-ignore lint/suspicious/noControlCharactersInRegex: removing them is the purpose
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u2028\u2029]/gu;

/** Untrusted text made safe for one line of a terminal: line breaks and tabs become spaces, other controls vanish. */
export function toPlainLine(text: string): string {
  return text.replace(/\r\n|[\n\r\t\u2028\u2029]/gu, ' ').replace(UNSAFE, '');
}
