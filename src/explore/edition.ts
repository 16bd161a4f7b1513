import { type Content, Html, html } from '../formats/html.js';

/**
 * The edition of a page: `own` for the reader's own server, `shared` for a read-only server with many readers, and
 * `written` for a page saved to a file.
 */
export type Edition = 'own' | 'shared' | 'written';

/**
 * Which editions include a part: `served` for both kinds of server, `own` for the reader's own server, `written` for
 * files.
 */
type Part = 'served' | 'own' | 'written';

const PARTS: Readonly<Record<Edition, readonly Part[]>> = {
  own: ['served', 'own'],
  shared: ['served'],
  written: ['written'],
};
const ALL: readonly Part[] = ['served', 'own', 'written'];

const mark = (name: string) => new Html(`<!--${name}-->`);
const END = mark('end');

/**
 * Marks content that only some editions include. A marked part can't contain another one. Other text can't contain
 * marks, because `html` escapes them.
 */
export const onlyIn = (part: Part, content: Content): Html => html`${mark(part)}${content}${END}`;

/** Returns the text of a page without the parts that are marked for other editions. */
export function printEdition(page: Html, edition: Edition): string {
  const removedParts = ALL.filter((part) => !PARTS[edition].includes(part)).join('|');
  return page.text
    .replaceAll(new RegExp(`<!--(?:${removedParts})-->.*?${END.text}`, 'gsu'), '')
    .replaceAll(/<!--(?:served|own|written|end)-->/gu, '');
}
