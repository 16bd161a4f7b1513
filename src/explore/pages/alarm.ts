import type { ListedPrice } from '../../analyze/edit-watch-list.js';
import { countOf } from '../../formats/count.js';
import { type Content, type Html, html } from '../../formats/html.js';
import { productPath } from '../cells.js';
import { onlyIn } from '../edition.js';
import { foreign } from '../format.js';
import type { ListEdit } from '../list-edits.js';
import type { Page, PageRequest } from '../page.js';
import { type ReadValue, readAll, toText } from '../values.js';

const NAMES = ['product', 'currency', 'price', 'lowest', 'highest'] as const;

export const readListed = (read: (name: string) => string): ListedPrice => ({
  product: read('product'),
  currency: read('currency'),
  price: read('price'),
  lowest: read('lowest'),
  highest: read('highest'),
});

/** Renders a form that leads to the preview of an alert. `line` is the product's current line in the list, if any. */
export function renderAlarmForm(product: string, currency: string, line: ReadValue | undefined): Html {
  const amount = (name: string) => trimZeros(toText(line?.(name) ?? null) ?? '');
  const field = (name: string, label: string, isRequired = false) =>
    html`<label>${label} <input name="${name}" value="${amount(name)}" inputmode="decimal" size="8"${isRequired ? html` required` : ''} autocomplete="off"></label>\n`;
  return onlyIn(
    'own',
    html`<details><summary>Set an alarm in your list</summary><form class="filters" action="/alarm"><input type="hidden" name="product" value="${product}"><input type="hidden" name="currency" value="${currency}">${field('price', `Your price in ${currency}`, true)}${field('lowest', 'Alarm if a shop asks less than')}${field('highest', 'Your highest price')}<button>Preview</button></form></details>`,
  );
}

const trimZeros = (text: string) => text.replace(/(\.\d\d)0+$/u, '$1');

/** Shows the line that setting an alert would write, and a form that writes it. */
export async function alarmPage(edit: ListEdit, listed: ListedPrice, { ask }: PageRequest): Promise<Page> {
  const { product, currency, lowest } = listed;
  const offers = readAll(await ask({ analysis: 'offers', set: { product, currency }, limit: 500 }));
  const hidden = NAMES.map((name) => html`<input type="hidden" name="${name}" value="${listed[name]}">`);
  return {
    title: 'Set an alarm',
    body: html`<p>This line ${edit.before === undefined ? 'is added to' : 'takes the place of the present one in'} <code>${edit.file}</code>:</p>
<pre>${edit.before === undefined ? '' : html`<del>${edit.before}</del>\n`}<ins>${edit.after}</ins></pre>
${lowest === '' ? html`<p>Without a lowest allowed price, no alarm is raised.</p>` : html`<p>${describeAlarms(offers, lowest, currency)}</p>`}
<form class="filters" action="/alarm" method="post">${hidden}<input type="hidden" name="digest" value="${edit.digest}"><button>Write it</button> <a href="${productPath(product, currency)}">Cancel</a></form>
<p class="soft">Pages show alarms at once. <code>pricelake watch --list</code> sends them.</p>`,
  };
}

/** Describes which shops are now below the lowest allowed price. */
function describeAlarms(offers: readonly ReadValue[], lowest: string, currency: string): Content {
  const bound = toUnits(lowest);
  const below = offers.filter((read) => {
    const price = toText(read('price'));
    return read('is_counted') === true && price !== undefined && toUnits(price) < bound;
  });
  if (below.length === 0) return `No shop asks less than ${lowest} ${currency} now.`;
  const names = below
    .slice(0, 5)
    .map((read, k) => html`${k === 0 ? '' : ', '}${foreign(toText(read('shop')) ?? null, 40)}`);
  return html`${countOf(below.length, 'offer')} below ${lowest} ${currency} now: ${names}${below.length > 5 ? ' and more' : ''}.`;
}

/** Converts an amount with at most four decimals to an integer number of ten-thousandths. */
function toUnits(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.padEnd(4, '0'));
}
