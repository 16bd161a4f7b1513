import { html } from '../../formats/html.js';
import { foreign, listNames } from '../format.js';
import type { Section } from '../layout.js';
import type { Credit } from '../rows.js';

const MOST_NAMES = 12;

/** Shows credit texts whole: they must be passed on with the data (API section 2, SiteRef). */
export function creditsSection(credits: readonly Credit[]): Section {
  const body =
    credits.length === 0
      ? html`<p>No site in this lake asks for a credit.</p>`
      : html`<p>The figures above hold data of these open-data sites. Who passes them on passes these credits on with them.</p>
<ul class="credits">${credits.map(({ attribution, sites }) => {
          const names = sites.map(({ name, host }) => html`${foreign(name, 60)} (${foreign(host, 80)})`);
          return html`<li><bdi>${attribution}</bdi> <small>${listNames(names, MOST_NAMES)}</small></li>\n`;
        })}</ul>`;
  return { id: 'credits', title: 'Credits', body };
}
