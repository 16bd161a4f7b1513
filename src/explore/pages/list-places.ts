import { formatCount } from '../../formats/count.js';
import { type Html, html } from '../../formats/html.js';
import { onlyIn } from '../edition.js';
import { changeAddress } from '../page.js';
import type { Answer } from '../question.js';
import { readAll, toBigInt } from '../values.js';

/** The mutually exclusive positions of a line's price in the market, best first, with their colors. */
const SPLIT = [
  { place: 'cheapest', label: 'cheapest', color: 'place-1' },
  { place: 'middle', label: 'in the middle', color: 'place-2' },
  { place: 'dearest', label: 'most expensive', color: 'place-3' },
  { place: 'alone', label: 'alone', color: 'place-4' },
];
/** Further positions, each of which a line can have in addition to one of `SPLIT`. */
const MORE = [
  { place: 'undercut', label: 'undercut' },
  { place: 'rivals_out', label: 'rivals out of stock' },
];

/** Reads the position from the URL's query. Returns an empty string if it is missing or unknown. */
export const readPlace = (search: URLSearchParams): string =>
  [...SPLIT, ...MORE].find(({ place }) => place === search.get('place'))?.place ?? '';

/** Renders a bar that divides the list's lines by position, with links to the lines in each position. */
export function renderPlaces(answer: Answer, search: URLSearchParams, path = '/list'): Html {
  const counts = new Map(readAll(answer).map((read) => [String(read('place')), Number(toBigInt(read('lines')))]));
  const of = (place: string) => counts.get(place) ?? 0;
  const all = SPLIT.reduce((sum, { place }) => sum + of(place), 0);
  if (all === 0) return html``;
  let from = 0;
  const bars = SPLIT.map(({ place, color }) => {
    const bar = html`<rect class="${color}" x="${from}" width="${of(place)}" height="10"/>`;
    from += of(place);
    return bar;
  });
  const chosen = readPlace(search);
  const link = (place: string, label: string, key?: string) => {
    const address = changeAddress(path, search, { place: place === chosen ? '' : place, from: '' });
    const text = `${formatCount(of(place))} ${label}`;
    return html`<li${key === undefined ? '' : html` class="${key}"`}>${onlyIn('served', html`<a href="${address}"${place === chosen ? html` aria-current="true"` : ''}>${text}</a>`)}${onlyIn('written', text)}</li>\n`;
  };
  const label = `Lines of the list by place: ${SPLIT.map((one) => `${of(one.place)} ${one.label}`).join(', ')}.`;
  return html`<figure class="places"><svg role="img" aria-label="${label}" viewBox="0 0 ${all} 10" preserveAspectRatio="none">${bars}</svg>
<ul class="legend">${SPLIT.map((one) => link(one.place, one.label, one.color))}${MORE.map((one) => link(one.place, one.label))}</ul></figure>`;
}
