import { html } from '../../formats/html.js';
import { foreign } from '../../report/format.js';
import type { Page, PageRequest } from '../page.js';

/** Licence and credit texts that go with the data. */
export function creditsPage({ snapshot: { credits } }: PageRequest): Page {
  const body =
    credits.length === 0
      ? html`<p class="soft">No website of this copy asks for a credit.</p>`
      : html`<p>Pass these on with the data.</p><ul class="credits">${credits.map((text) => html`<li>${foreign(text, 4000)}</li>`)}</ul>`;
  return { title: 'Credits and licences', body };
}
