import { VARCHAR } from '@duckdb/node-api';
import { countOf } from '../../formats/count.js';
import { type Content, type Html, html } from '../../formats/html.js';
import { showCell } from '../cells.js';
import { foreign, formatMoney } from '../format.js';
import { changeAddress, type Page, type PageRequest, readLimit, readOffset } from '../page.js';
import type { Answer, Question } from '../question.js';
import { renderPager, renderTools } from '../table.js';
import { type ReadValue, readAll, toBigInt, toText } from '../values.js';
import { readPlace, renderPlaces } from './list-places.js';

export const MATRIX_PATH = '/list/matrix';

/** The number of shops on one page of the matrix. Further shops are on the next pages. */
const SHOPS = 20;
/** The maximum number of rows of the query, which returns one row per line and shop. */
const MOST_PRICES = 50_000;

/** Shows each shop's prices for the products of the reader's list, with the cheapest marked. */
export async function matrixPage({ snapshot, search, ask }: PageRequest): Promise<Page> {
  if (snapshot.list === undefined) {
    const body = html`<p>The matrix shows what each shop asks for the products of <a href="/list">your list</a>.</p>`;
    return { title: 'Matrix', body };
  }
  const lines = { offset: readOffset(search), limit: readLimit(search) };
  // Requests one more line than the page shows, to find out whether there is a next page.
  const set = { place: readPlace(search), first: String(lines.offset), top: String(lines.limit + 1) };
  const prices: Question = { analysis: 'watched_matrix', set, limit: MOST_PRICES };
  const rivals = { offset: readOffset(search, 'shops_from'), limit: SHOPS };
  const [asked, shops, split] = await Promise.all([
    ask(prices),
    ask({ analysis: 'watched_rivals', set: {}, ...rivals }),
    ask({ analysis: 'watched_split', set: {}, limit: 20 }),
  ]);
  const all = groupByLine(asked);
  const rows = all.slice(0, lines.limit);
  const address = (changes: Record<string, string>) => changeAddress(MATRIX_PATH, search, changes);
  return {
    title: 'Matrix',
    body: html`<p class="about">Each line of <a href="/list">your list</a>, and what shops ask</p>
${renderPlaces(split, search, MATRIX_PATH)}
${rows.length === 0 ? html`<p class="soft">No line of the list is in this place.</p>` : renderMatrix(rows, readAll(shops))}
${renderTools({ analysis: 'watched_matrix', set: { place: set.place, top: '1000000' } })}
${renderPager({ rows, hasMore: all.length > lines.limit }, lines, address, 'Lines')}
${renderPager(shops, rivals, ({ from }) => address({ shops_from: from }), 'Shops')}`,
  };
}

/** Groups rows of watched_matrix.sql by line of the list, in their original order. */
function groupByLine(answer: Answer): ReadValue[][] {
  const lines = new Map<string, ReadValue[]>();
  for (const read of readAll(answer)) {
    const line = String(read('line'));
    lines.set(line, [...(lines.get(line) ?? []), read]);
  }
  return [...lines.values()];
}

function renderMatrix(lines: readonly ReadValue[][], shops: readonly ReadValue[]): Html {
  const head = shops.map((read) => {
    const sold = `cheapest for ${String(read('cheapest'))} of ${countOf(toBigInt(read('lines')), 'line')}`;
    return html`<th scope="col" class="number" data-name="${toText(read('shop')) ?? ''}"><a href="/shops/${String(read('site_id'))}">${foreign(toText(read('shop')) ?? null, 60)}</a> <small>${sold}</small></th>`;
  });
  return html`<div class="frame"><table class="matrix">
<caption><span>The lowest price of each shop that counts. The cheapest of a line is marked, yours included; a dash stands where a shop has no price that counts.</span></caption>
<thead><tr><th scope="col" data-name="title">Product</th><th scope="col" class="number" data-name="own_price">Your price</th>${head}</tr></thead>
<tbody>${lines.map((line) => renderLine(line, shops))}</tbody></table></div>`;
}

function renderLine(line: readonly ReadValue[], shops: readonly ReadValue[]): Html {
  const [first] = line;
  if (first === undefined) return html``;
  const product = String(first('product'));
  const title = first('title');
  const read = (name: string) => first(name);
  const name = title === null ? foreign(product, 80) : showCell({ name: 'title', type: VARCHAR }, title, read);
  const own = toText(first('own_price'));
  const cells = shops.map((shop) => {
    const offer = line.find((one) => one('site_id') === shop('site_id'));
    return renderPrice(toText(offer?.('price') ?? null), offer?.('is_cheapest') === true);
  });
  return html`<tr><th scope="row">${name} <small>${toText(first('currency')) ?? ''}</small></th>${renderPrice(own, first('is_own_cheapest') === true)}${cells}</tr>\n`;
}

function renderPrice(price: string | undefined, isCheapest: boolean): Content {
  if (price === undefined) return html`<td class="number"><span class="none">–</span></td>`;
  const text = formatMoney(price);
  return isCheapest
    ? html`<td class="number cheapest" data-value="${price}"><strong>${text}</strong> <small>cheapest</small></td>`
    : html`<td class="number" data-value="${price}">${text}</td>`;
}
