/** Made at first use, because it takes 8 ms. */
let graphemes: Intl.Segmenter | undefined;
/** Latin letters and usual punctuation take a cell each, and don't combine. */
const NARROW = /^[\n\u0020-\u007e\u00a0-\u00ac\u00ae-\u02ff\u2010-\u2027\u202f\u2190-\u2193]*$/u;
const EMOJI = /\p{Emoji_Presentation}|\ufe0f/u;
const INVISIBLE = /^[\p{Mark}\p{Cf}]+$/u;

/** Ranges of code points that terminals show two cells wide (East Asian Width W and F). */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa000, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x20000, 0x3fffd],
];

/** The number of cells that a text takes on a terminal. */
export function measureWidth(text: string): number {
  if (NARROW.test(text)) return text.length;
  let width = 0;
  for (const { segment: grapheme } of segment(text)) width += measureGrapheme(grapheme);
  return width;
}

/** Cuts a text to at most `width` cells, with `…` at its end. */
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
  const point = grapheme.codePointAt(0) ?? 0;
  return WIDE.some(([first, last]) => point >= first && point <= last) ? 2 : 1;
}

/** Breaks a text between words into lines that fit a terminal. All lines but the first are indented. */
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

/** Takes the place of the package `string-width` in the bundle (build.ts). */
export { measureWidth as default };
