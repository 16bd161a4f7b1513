import { type DuckDBListValue, DuckDBStructValue, type DuckDBValue } from '@duckdb/node-api';
import { html } from '../../formats/html.js';
import { foreign } from '../format.js';
import type { Page, PageRequest } from '../page.js';
import { readAll, toText } from '../values.js';

const MOST = 1000;

/** Shows the license and credit texts that must accompany the data, with the websites that require each. */
export async function creditsPage({ ask }: PageRequest): Promise<Page> {
  const credits = readAll(await ask({ analysis: 'report_credits', set: {}, limit: MOST }));
  const body =
    credits.length === 0
      ? html`<p class="soft">No website in this copy requires a credit.</p>`
      : html`<p>Pass these on with the data.</p><ul class="credits">${credits.map(
          (read) =>
            html`<li>${foreign(toText(read('attribution')) ?? null, 4000)} <small>${listSites(read('sites'))}</small></li>`,
        )}</ul>`;
  return { title: 'Credits and licenses', body };
}

function listSites(sites: DuckDBValue) {
  const names = (sites as DuckDBListValue).items.map((site) =>
    site instanceof DuckDBStructValue
      ? (toText(site.entries.name ?? null) ?? toText(site.entries.host ?? null))
      : undefined,
  );
  return names.map((name, k) => [k === 0 ? '' : ', ', foreign(name ?? null, 80)]);
}
