import { type Content, Html, html } from '../formats/html.js';

/**
 * Pages come in two editions: served pages ask the server for more rows, and written pages work with the rows they
 * have. Foreign text can't contain these marks, because `html` escapes it.
 */
export type Edition = 'served' | 'written';

const mark = (name: string) => new Html(`<!--${name}-->`);
const END = mark('end');

/** Marks a part as belonging to one edition. Such parts can't be nested. */
export const onlyIn = (edition: Edition, content: Content): Html => html`${mark(edition)}${content}${END}`;

/** Returns the text of one edition. */
export function printEdition(page: Html, edition: Edition): string {
  const other = edition === 'served' ? 'written' : 'served';
  return page.text
    .replaceAll(new RegExp(`${mark(other).text}.*?${END.text}`, 'gsu'), '')
    .replaceAll(/<!--(?:served|written|end)-->/gu, '');
}
