import { measureWidth } from './display-width.js';

/** A text in lines that fit a terminal, broken between words, each line behind the first with its indent. */
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
