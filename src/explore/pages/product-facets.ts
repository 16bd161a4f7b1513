import { formatCount } from '../../formats/count.js';
import { type Content, type Html, html } from '../../formats/html.js';
import { cutText } from '../format.js';
import { type Choice, type PageRequest, renderChoice } from '../page.js';
import type { Answer, Question } from '../question.js';
import { readAll, toBigInt, toText } from '../values.js';

const FACETS = ['brand', 'category', 'site_id', 'currency', 'grade', 'in_stock'] as const;
export type Facet = (typeof FACETS)[number];

export interface Facets {
  /** The number of products that match the filters. */
  all: bigint;
  /** Returns the values of a filter. Each label has the number of products that the value would match. */
  list(facet: Facet): Choice[];
}

interface Counted {
  facet: string;
  value: string;
  label: string;
  products: bigint;
}

const ANY: Choice = { value: '', label: 'any' };
const MOST = 1000;

/** Counts products by the values of each filter. Only the other filters apply, so that readers see alternatives. */
export async function askForFacets(set: Question['set'], ask: PageRequest['ask']): Promise<Facets> {
  const count = async (changes: Question['set']) => {
    const answer = await ask({ analysis: 'product_facets', set: { ...set, ...changes }, limit: MOST });
    return readCounts(answer);
  };
  const chosen = FACETS.filter((facet) => (set[facet] ?? '') !== '');
  const [rest, ...own] = await Promise.all([count({}), ...chosen.map((facet) => count({ [facet]: '', facet }))]);
  const found = (facet: Facet): Counted[] =>
    (own[chosen.indexOf(facet)] ?? rest ?? []).filter((one) => one.facet === facet);
  return {
    all: rest?.find(({ facet }) => facet === 'all')?.products ?? 0n,
    list: (facet) =>
      facet === 'grade'
        ? listGrades(found(facet))
        : facet === 'in_stock'
          ? listStock(found(facet))
          : withChosen(found(facet), set[facet] ?? ''),
  };
}

const readCounts = (answer: Answer): Counted[] =>
  readAll(answer).map((read) => ({
    facet: String(read('facet')),
    value: toText(read('value')) ?? '',
    label: toText(read('label')) ?? '',
    products: toBigInt(read('products')),
  }));

const toChoice = ({ value, label, products }: Counted): Choice => ({
  value,
  label: `${label} (${formatCount(products)})`,
});

/** Lists the values with counts, and adds the chosen value if no product matches it. */
function withChosen(counted: readonly Counted[], chosen: string): Choice[] {
  const isKnown = chosen === '' || counted.some(({ value }) => value === chosen);
  return [ANY, ...(isKnown ? [] : [{ value: chosen, label: chosen }]), ...counted.map(toChoice)];
}

/** Lists the grades as minimum grades. Choosing B also includes A. */
function listGrades(counted: readonly Counted[]): Choice[] {
  const of = (...grades: string[]) =>
    counted.filter(({ value }) => grades.includes(value)).reduce((sum, { products }) => sum + products, 0n);
  return [
    ANY,
    { value: 'A', label: `A (${formatCount(of('A'))})` },
    { value: 'B', label: `A or B (${formatCount(of('A', 'B'))})` },
  ];
}

function listStock(counted: readonly Counted[]): Choice[] {
  const of = (wanted: string) => counted.find(({ value }) => value === wanted)?.products ?? 0n;
  return [
    ANY,
    { value: 'true', label: `yes (${formatCount(of('true'))})` },
    { value: 'false', label: `no, or not known (${formatCount(of('false'))})` },
  ];
}

/** Lists the brands of all products, those with the most products first. */
export async function askForBrands(ask: PageRequest['ask']): Promise<Choice[]> {
  const answer = await ask({ analysis: 'product_facets', set: { facet: 'brand' }, limit: MOST });
  return readCounts(answer).map(toChoice);
}

const IN_LIST: readonly Choice[] = [
  ANY,
  { value: 'true', label: 'only its products' },
  { value: 'false', label: 'without its products' },
];

/** Reads from the address whether to show only products of the reader's list; empty for all products. */
export function readInList(search: URLSearchParams): string {
  const given = search.get('in_list') ?? '';
  return IN_LIST.some(({ value }) => value === given) ? given : '';
}

/** Renders the filter by the reader's price list. Without a list, there is no filter. */
export const renderInList = (hasList: boolean, chosen: string): Content =>
  hasList || chosen !== '' ? renderChoice('in_list', 'My list', IN_LIST, chosen) : '';

/** Renders a text field with suggestions, because there may be too many brands for a drop-down list. */
export function renderBrand(chosen: string, choices: readonly Choice[]): Html {
  const options = choices.filter(({ value }) => value !== '');
  return html`<label>Brand <input name="brand" value="${chosen}" list="brands" autocomplete="off" spellcheck="false"></label>
<datalist id="brands">${options.map(({ value, label }) => html`<option value="${value}">${cutText(label, 60)}</option>`)}</datalist>
`;
}
