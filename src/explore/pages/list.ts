import { type Html, html } from '../../formats/html.js';
import { askForSparklines } from '../charts/sparkline.js';
import { askForDates } from '../compared-columns.js';
import { readDates, renderDates } from '../dates.js';
import { onlyIn } from '../edition.js';
import { moment } from '../format.js';
import {
  changeAddress,
  type Page,
  type PageRequest,
  readLimit,
  readOffset,
  renderChoice,
  renderField,
  renderFilters,
  renderSection,
} from '../page.js';
import { askPast } from '../past.js';
import type { Question } from '../question.js';
import { renderAnswer, renderPager } from '../table.js';
import { readAll, readFirst, toDate } from '../values.js';
import { BREACHES, LINES, SUGGESTIONS } from './list-columns.js';
import { readPlace, renderPlaces } from './list-places.js';
import { MATRIX_PATH } from './matrix.js';

const MOST = 1000;
const MOST_BREACHES = 100;
const RULES = [
  { value: 'cheapest', label: 'the cheapest shop' },
  { value: 'second', label: 'the second cheapest' },
  { value: 'median', label: 'the median' },
];

/** Shows the reader's prices and the market's, suggested prices, and shops that sell below a lowest allowed price. */
export async function listPage(request: PageRequest): Promise<Page> {
  const { snapshot, search, ask } = request;
  if (snapshot.list === undefined) {
    return {
      title: 'My list',
      body: html`<p>Your own prices against the market: position, who undercuts you since when, what to ask.</p>
<p>The list is a CSV file with the columns <code>product,price</code> and optionally <code>currency,lowest,highest</code>. It stays on this machine and is discarded when explore stops; <code>pricelake explore --list mine.csv</code> reads it at each start.</p>
${onlyIn('own', await renderUpload(ask, 'Show this list'))}`,
    };
  }
  const by = RULES.find(({ value }) => value === search.get('suggest_by'))?.value ?? 'cheapest';
  const minus = /^\d{1,2}(\.\d{1,2})?$/u.test(search.get('suggest_minus') ?? '')
    ? String(search.get('suggest_minus'))
    : '0';
  const own = { own_site: String(snapshot.list.options.ownSite ?? '') };
  const limit = readLimit(search);
  const lines: Question = {
    analysis: 'watched_lines',
    set: { place: readPlace(search) },
    offset: readOffset(search),
    limit,
  };
  const suggestions: Question = {
    analysis: 'watch_suggest',
    set: { ...own, suggest_by: by, suggest_minus: minus },
    ...{ offset: readOffset(search, 'suggest_from'), limit },
  };
  const compliance: Question = { analysis: 'watch_compliance', set: own, limit: MOST_BREACHES };
  const [watched, suggested, split] = await Promise.all([
    ask(lines),
    ask(suggestions),
    ask({ analysis: 'watched_split', set: {}, limit: 20 }),
  ]);
  const past = await askPast(request, compliance);
  const [spark, compared] = await Promise.all([
    askForSparklines([watched], ask),
    askForDates(readDates(search), [watched], ask),
  ]);
  const address = (changes: Record<string, string>) => changeAddress('/list', search, changes);
  const since = toDate(readFirst(watched)('changes_since'));
  return {
    title: 'My list',
    ...past.again,
    body: html`<p class="about"><a href="${changeAddress(MATRIX_PATH, new URLSearchParams(), { place: readPlace(search) })}">Matrix of your products and all shops</a></p>
${onlyIn('own', html`<details><summary>Another list</summary>${await renderUpload(ask, 'Show this list, or none')}</details>`)}
${renderSection(
  'Position',
  html`${renderPlaces(split, search)}${renderFilters('/list', renderDates(search, 'Compare'), { place: readPlace(search) }, { isFirst: false })}${renderAnswer(
    watched,
    lines,
    {
      caption: html`Each line of the list, those with an alarm first; only prices that count are compared${since === undefined ? '' : html`; changed since ${moment(since)}, when <code>watch</code> last ran`}`,
      columns: LINES.toSpliced(1, 0, spark, ...compared),
      brief: ['price', 'currency', 'gap_pct', 'cheapest'],
      isLong: true,
      moreNote: '', // the pager links to the other rows
      empty: 'No line of the list is in this place.',
    },
  )}${renderPager(watched, lines, address, 'Lines')}`,
)}
${renderSection(
  'Suggested prices',
  html`${renderFilters('/list', [renderChoice('suggest_by', 'Go by', RULES, by), renderField('suggest_minus', 'minus percent', minus)], { place: readPlace(search) })}
${renderAnswer(suggested, suggestions, { caption: 'A price for each line, within lowest and highest; the files are for your shop system', columns: SUGGESTIONS, moreNote: '' })}${renderPager(suggested, suggestions, ({ from }) => address({ suggest_from: from }), 'Suggestions')}`,
)}
${renderSection('Below your lowest allowed prices', past.render({ caption: 'Every time that a shop was below one, with the listing as evidence', columns: BREACHES, empty: 'No shop was below a lowest allowed price, or no line has one.' }))}`,
  };
}

/** Renders a form that uploads a price list to this server. */
async function renderUpload(ask: PageRequest['ask'], label: string): Promise<Html> {
  const shops = readAll(await ask({ analysis: 'shop_names', set: {}, limit: MOST }));
  const choices = shops.map((read) => ({ value: String(read('site_id')), label: String(read('shop')) }));
  return html`<form class="filters" action="/list" method="post" enctype="multipart/form-data">
<label>CSV <input type="file" name="list" accept=".csv,text/csv"></label>
<label>Currency of lines without a currency <input name="currency" size="3" maxlength="3" placeholder="EUR"></label>
${renderChoice('own_site', 'Your own shop', [{ value: '', label: 'none' }, ...choices], '')}
<button>${label}</button></form>`;
}
