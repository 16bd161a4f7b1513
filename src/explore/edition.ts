import { type Content, Html, html } from '../formats/html.js';

/**
 * Pages come in three editions: those of the reader's own server, shared ones, which change nothing, and those written to a
 * file, which do with what they have. Foreign text can't hold these marks, because `html` escapes it.
 */
export type Edition = 'own' | 'shared' | 'written';

/** Pages of any server, of the reader's own server alone, or of files. */
type Part = 'served' | 'own' | 'written';

const PARTS: Readonly<Record<Edition, readonly Part[]>> = {
  own: ['served', 'own'],
  shared: ['served'],
  written: ['written'],
};
const ALL: readonly Part[] = ['served', 'own', 'written'];

const mark = (name: string) => new Html(`<!--${name}-->`);
const END = mark('end');

/** Marks a part that other editions leave out. Such parts can't be nested. */
export const onlyIn = (part: Part, content: Content): Html => html`${mark(part)}${content}${END}`;

/** Returns the text of one edition. */
export function printEdition(page: Html, edition: Edition): string {
  const removedParts = ALL.filter((part) => !PARTS[edition].includes(part)).join('|');
  return page.text
    .replaceAll(new RegExp(`<!--(?:${removedParts})-->.*?${END.text}`, 'gsu'), '')
    .replaceAll(/<!--(?:served|own|written|end)-->/gu, '');
}
