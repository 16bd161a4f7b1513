import { type Content, Html, html } from '../formats/html.js';

/**
 * Pages come in two editions: served ones ask a server for other rows, and those written to a file do with what they have.
 * Foreign text can't hold these marks, because `html` escapes it.
 */
export type Edition = 'served' | 'written';

const mark = (name: string) => new Html(`<!--${name}-->`);
const END = mark('end');

/** A part for one edition only. It holds no such part itself. */
export const onlyIn = (edition: Edition, content: Content): Html => html`${mark(edition)}${content}${END}`;

/** The text of an edition. */
export function printEdition(page: Html, edition: Edition): string {
  const other = edition === 'served' ? 'written' : 'served';
  return page.text
    .replaceAll(new RegExp(`${mark(other).text}.*?${END.text}`, 'gsu'), '')
    .replaceAll(/<!--(?:served|written|end)-->/gu, '');
}
