import { describeType, type Variable } from '../../analyze/variables.js';
import { type Content, type Html, html } from '../../formats/html.js';
import { toLabel } from '../cells.js';
import { type Choice, type PageRequest, renderChoice, renderField, renderFilters } from '../page.js';
import type { Question } from '../question.js';
import { readAll, toText } from '../values.js';
import { listCurrencies } from './products.js';

/** The variables that readers change most often, in the order of the form. */
const USUAL: readonly string[] = [
  ...['product', 'category', 'currency', 'period', 'site_id', 'kind', 'brand', 'by', 'since', 'until', 'days'],
];
const MOST_OPEN = 5;
const MOST_CHOICES = 2000;

/** Labels for variables whose names are unclear to readers. */
const LABELS: Readonly<Record<string, string>> = {
  site_id: 'Shop',
  own_site: 'Your shop',
  in_list: 'In my list',
  item_id: 'Listing id',
  q: 'Words',
  by: 'Rows by',
  collection_day: 'Collection week has day',
  confidence: 'Confidence, %',
  drop_pct: 'Drop in %',
  elementary: 'Index of a unit',
  gap_days: 'Longest absence, days',
  grade: 'Grade at least',
  impute: 'Fill gaps with',
  impute_periods: 'Longest gap filled, periods',
  lags: 'Days between prices',
  max_price: 'Price at most',
  methods: 'Indices',
  min_follows: 'Times followed at least',
  min_points: 'Points at least',
  min_price: 'Price at least',
  min_products: 'Products at least',
  min_shops: 'Shops at least',
  min_similarity: 'Similarity at least',
  out_after: 'Went out of stock after',
  overlap_days: 'Days of overlap',
  pass_weeks: 'Weeks to reach prices',
  products: 'Products at most',
  relaunches: 'Join relaunched listings',
  replicates: 'Number of draws',
  return_days: 'Days to return',
  seed: 'Seed of the draws',
  splice: 'Link windows by',
  step: 'Days between starts',
  top: 'Rows at most',
  weights_period: 'Period of the weights',
  window_periods: 'Periods in a window',
  with_first: 'Count the first day',
  with_suspects: 'Include suspect prices',
};

/** Display names, keyed by value. */
export interface KnownNames {
  site: ReadonlyMap<string, string>;
  /** Full category paths, for drop-down lists. */
  category: ReadonlyMap<string, string>;
  /** Category names without their paths, for rows. */
  categoryName: ReadonlyMap<string, string>;
}

/** Queries the names of all shops and categories. */
export async function askForNames(ask: PageRequest['ask']): Promise<KnownNames> {
  const [shops, categories] = await Promise.all([
    ask({ analysis: 'shop_names', set: {}, limit: MOST_CHOICES }),
    ask({ analysis: 'category_choices', set: {}, limit: MOST_CHOICES }),
  ]);
  const toMap = (answer: typeof shops, value: string, label: string) =>
    new Map(readAll(answer).map((read) => [String(read(value)), toText(read(label)) ?? String(read(value))]));
  return {
    site: toMap(shops, 'site_id', 'shop'),
    category: toMap(categories, 'slug', 'label'),
    categoryName: toMap(categories, 'slug', 'name'),
  };
}

/**
 * Renders the variables of an analysis and the column choice as a form. The most common variables are shown, and the
 * others are collapsed unless one of them is set.
 */
export async function renderForm(
  path: string,
  variables: readonly Variable[],
  set: Question['set'],
  names: KnownNames,
  ask: PageRequest['ask'],
  columns: Content,
): Promise<Html> {
  const currencies = await listCurrencies(ask);
  const rank = ({ name, isRequired }: Variable) => {
    const place = USUAL.indexOf(name);
    return isRequired ? -1 : place < 0 ? USUAL.length : place;
  };
  const usual = [...variables].sort((a, b) => rank(a) - rank(b)).filter((one) => rank(one) < USUAL.length);
  const open = usual.slice(0, MOST_OPEN);
  const folded = variables.filter((one) => !open.includes(one));
  const render = (one: Variable) => renderVariable(one, set[one.name] ?? '', listChoices(one, names, currencies));
  const isFoldedSet = folded.some(({ name }) => (set[name] ?? '') !== '');
  const folds =
    folded.length === 0
      ? ''
      : html`<details class="more"${isFoldedSet ? html` open` : ''}><summary>More settings (${folded.length})</summary><div class="settings">${folded.map((one) => html`<div>${render(one)}<small>${one.about}</small></div>\n`)}</div></details>`;
  const fields = [...open.map(render), folds, columns];
  return variables.length === 0 && columns === '' ? html`` : renderFilters(path, fields);
}

export const toChoices = (known: ReadonlyMap<string, string>): Choice[] =>
  [...known].map(([value, label]) => ({ value, label }));

/**
 * Returns the choices for a variable, or undefined if the reader types its value, for example if there are many shops.
 */
function listChoices(
  variable: Variable,
  names: KnownNames,
  currencies: readonly Choice[],
): readonly Choice[] | undefined {
  const isWhole = (known: ReadonlyMap<string, string>) => known.size < MOST_CHOICES;
  switch (variable.kind) {
    case 'site':
      return isWhole(names.site) ? toChoices(names.site) : undefined;
    case 'category':
      return isWhole(names.category) ? toChoices(names.category) : undefined;
    case 'currency':
      return currencies;
    case 'true or false':
      return [
        { value: 'true', label: 'yes' },
        { value: 'false', label: 'no' },
      ];
    case 'choice':
      return variable.choices.map((value) => ({ value, label: value.replaceAll('_', ' ') }));
    default:
      return undefined;
  }
}

export const labelVariable = ({ name }: Pick<Variable, 'name'>): string => LABELS[name] ?? toLabel(name);

function renderVariable(variable: Variable, value: string, choices: readonly Choice[] | undefined): Content {
  const { name, kind, isRequired } = variable;
  const unset = variable.default ?? (isRequired ? 'choose' : 'any');
  const label = labelVariable(variable);
  if (choices !== undefined) {
    return renderChoice(name, label, [{ value: '', label: unset }, ...choices], value);
  }
  if (name === 'product') {
    // The script fills the list with products whose titles have the typed words.
    return html`<label>${label} <input name="product" value="${value}" list="products" placeholder="Title, GTIN or id" autocomplete="off" spellcheck="false"></label>
<datalist id="products"></datalist>
`;
  }
  return renderField(name, label, value, variable.default ?? (kind === 'choices' ? describeType(variable) : ''));
}
