/** This is created when it is first used, because creating it takes 8 ms. */
let graphemes: Intl.Segmenter | undefined;
/** Latin letters and common punctuation, which are one cell wide and don't combine with other characters. */
const NARROW = /^[\n\u0020-\u007e\u00a0-\u00ac\u00ae-\u02ff\u2010-\u2027\u202f\u2190-\u2193]*$/u;
const EMOJI = /\p{Emoji_Presentation}|\ufe0f/u;
const INVISIBLE = /^[\p{Mark}\p{Cf}]+$/u;

/** Code points that terminals display two cells wide (East Asian Width W and F). */
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u4dbf\u4e00-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;

export function measureWidth(text: string): number {
  if (NARROW.test(text)) return text.length;
  let width = 0;
  for (const { segment: grapheme } of segment(text)) width += measureGrapheme(grapheme);
  return width;
}

/** Truncates a text that is wider than `width` cells, and ends it with `…`. */
export function truncateToWidth(text: string, width: number): string {
  if (measureWidth(text) <= width) return text;
  let used = 0;
  let kept = '';
  for (const { segment: grapheme } of segment(text)) {
    const cells = measureGrapheme(grapheme);
    if (used + cells > width - 1) break;
    used += cells;
    kept += grapheme;
  }
  return `${kept}…`;
}

function segment(text: string): Intl.Segments {
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return graphemes.segment(text);
}

function measureGrapheme(grapheme: string): number {
  if (EMOJI.test(grapheme)) return 2;
  if (INVISIBLE.test(grapheme)) return 0;
  return WIDE.test(grapheme) ? 2 : 1;
}

/**
 * Wraps text at spaces to the width of the terminal. Indents all lines except the first. If `terminal` is undefined,
 * returns the text unchanged.
 */
export function wrapText(text: string, terminal: number | undefined, indent = ''): string {
  if (terminal === undefined) return text;
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    const longer = line === '' ? word : `${line} ${word}`;
    const room = terminal - (lines.length === 1 ? 0 : indent.length);
    if (line === '' || measureWidth(longer) <= room) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.join(`\n${indent}`);
}

/** Formats a text to the right of a label, and wraps it. All lines of the text start in the same column. */
export function hangText(label: string, text: string, terminal: number | undefined): string {
  const width = measureWidth(label);
  // While the text is wrapped, the label is replaced by a placeholder without spaces, so that the label stays on one
  // line.
  return label + wrapText(`${'x'.repeat(width)}${text}`, terminal, ' '.repeat(width)).slice(width);
}

/** The bundle uses this in place of the `string-width` package (see build.ts). */
export { measureWidth as default };
