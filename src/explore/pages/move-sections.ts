import { formatCount } from '../../formats/count.js';
import { type Content, html } from '../../formats/html.js';
import { type Figure, renderFigures, renderSection } from '../page.js';
import type { Answer, Question } from '../question.js';
import { analysisAddress, renderAnswer, type ShownColumn } from '../table.js';
import { readAll, readRow, toBigInt, toNumber } from '../values.js';

/** The number of rows to show of each kind of move. */
export const ROWS = 8;

export const KINDS = {
  fall: 'Falls',
  rise: 'Rises',
  new: 'New',
  back: 'Back',
  removed: 'Removed',
  gone: 'Gone',
} as const;

/** The kinds whose rows are shown at once. The rows of other kinds are collapsed. */
const OPEN_KINDS: readonly string[] = ['fall', 'rise'];

/** The kinds of moves that compared_listings.sql returns. They are some of `KINDS`. */
const COMPARED_KINDS: readonly string[] = ['fall', 'rise', 'new', 'gone'];

const STOCK_KINDS = { out: 'Out of stock', back: 'Back in stock' } as const;

export const MOVES: readonly (string | ShownColumn)[] = [
  'title',
  'shop',
  'kind',
  { name: 'price_before', label: 'Before' },
  'price',
  'currency',
  { name: 'change_pct', label: 'Change' },
  { name: 'rank_before', label: 'Place before' },
  { name: 'rank_after', label: 'Place now' },
  { name: 'shops_after', label: 'of shops' },
  { name: 'moved_at', label: 'When' },
];

/** The columns of MOVES that phones show first. */
export const MOVED = ['price_before', 'price', 'currency', 'change_pct'];

/** Returns the number of rows of each kind, with a link to these rows. */
function listKinds(answer: Answer, question: Question, kinds: Readonly<Record<string, string>>): Figure[] {
  const totals = countKinds(answer);
  return Object.entries(kinds).map(([kind, name]) => {
    const total = totals.get(kind) ?? 0n;
    const list = analysisAddress({ analysis: question.analysis, set: { ...question.set, kind, top: '1000' } });
    return { name, value: total === 0n ? '0' : html`<a href="${list}">${formatCount(total)}</a>` };
  });
}

/** Returns the number of products that went out of stock or came back, or an empty list if the answer has no rows. */
export const listStockFigures = (answer: Answer | undefined, question: Question): Figure[] =>
  answer === undefined || answer.rows.length === 0 ? [] : listKinds(answer, question, STOCK_KINDS);

const countKinds = (answer: Answer): Map<string, bigint> =>
  new Map(readAll(answer).map((read) => [String(read('kind')), toBigInt(read('of_kind'))]));

/** Limits the rows of each kind, in the order of `orderMoves`. */
export function chooseMoves(answer: Answer): Answer {
  const kindAt = answer.columns.findIndex(({ name }) => name === 'kind');
  const shown = new Map<unknown, number>();
  const isAmongFirst = (row: Answer['rows'][number]) => {
    const place = (shown.get(row[kindAt]) ?? 0) + 1;
    shown.set(row[kindAt], place);
    return place <= ROWS;
  };
  return { ...answer, rows: orderMoves(answer).rows.filter(isAmongFirst), hasMore: false };
}

/**
 * Puts products of a single shop after others, because their prices can't be compared, and moves by a factor of ten or
 * more last, because the check price_jump reports them as likely mistakes.
 */
export function orderMoves(answer: Answer): Answer {
  const rank = (row: Answer['rows'][number]) => {
    const read = readRow(answer, row);
    const percent = Math.round(toNumber(read('change_pct')) ?? 0);
    if (percent <= -90 || percent >= 900) return 2;
    const shops = answer.columns.some(({ name }) => name === 'shops_after') ? toNumber(read('shops_after')) : 2;
    return (shops ?? 0) > 1 ? 0 : 1;
  };
  return { ...answer, rows: [0, 1, 2].flatMap((wanted) => answer.rows.filter((row) => rank(row) === wanted)) };
}

export function renderMoves(
  answer: Answer,
  question: Question,
  spark: ShownColumn,
  stockFigures: readonly Figure[],
): Content {
  const totals = countKinds(answer);
  const kindAt = answer.columns.findIndex(({ name }) => name === 'kind');
  const parts = Object.entries(KINDS)
    .filter(([kind]) => totals.has(kind))
    .map(([kind, name]) => {
      const rows = answer.rows.filter((row) => row[kindAt] === kind);
      const columns = MOVES.filter((one) => one !== 'kind').toSpliced(1, 0, spark);
      const own = { ...question, set: { ...question.set, kind } };
      const caption = `The largest of ${formatCount(totals.get(kind) ?? 0n)}, products of several shops first${OPEN_KINDS.includes(kind) ? ', and likely mistakes (a factor of ten or more) last' : ''}`;
      const table = renderAnswer({ ...answer, rows }, own, { caption, columns, line: 'shop', brief: MOVED });
      return OPEN_KINDS.includes(kind)
        ? renderSection(name, table)
        : html`<details><summary>${name}</summary>${table}</details>\n`;
    });
  const kinds = Object.entries(KINDS).filter(
    ([kind]) => question.analysis === 'movers' || COMPARED_KINDS.includes(kind),
  );
  return html`${renderFigures([...listKinds(answer, question, Object.fromEntries(kinds)), ...stockFigures])}${parts.length === 0 ? html`<p class="soft">No price or listing of a product moved.</p>` : parts}`;
}

const SPREAD_KINDS = { opened: 'Opened', closed: 'Closed' };

export const renderSpreadMoves = (answer: Answer, question: Question): Content =>
  html`${renderFigures(listKinds(answer, question, SPREAD_KINDS))}${renderAnswer(answer, question, {
    caption: 'By five percentage points or more, between the ends of two closed UTC days; the largest change first',
    columns: [
      'title',
      'kind',
      { name: 'before_pct', label: 'Before' },
      { name: 'spread_pct', label: 'Now' },
      'lowest',
      'highest',
      'currency',
      'shops',
      { name: 'since_day', label: 'Since the end of' },
    ],
    brief: ['kind', 'before_pct', 'spread_pct', 'shops'],
    empty: 'No spread opened or closed by that much.',
  })}`;
