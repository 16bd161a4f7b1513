import { type Html, html } from '../../formats/html.js';
import { foreign } from '../format.js';
import type { Page } from '../page.js';
import { LONGEST_NAME, type SavedView } from '../saved-views.js';

/** Lists the saved views, each with a button to remove it. */
export function viewsPage(views: readonly SavedView[]): Page {
  const rows = views.map(
    ({ name, address }) =>
      html`<tr><th scope="row"><a href="${address}">${foreign(name, LONGEST_NAME)}</a></th><td><code>${address}</code></td><td><form action="/views/remove" method="post"><input type="hidden" name="name" value="${name}"><button aria-label="Remove ${name}">Remove</button></form></td></tr>\n`,
  );
  return {
    title: 'Views',
    body:
      rows.length === 0
        ? html`<p>No view is saved. Choose filters on any page, then save it under a name in the menu.</p>`
        : html`<p class="about">Pages with their filters, kept in the lake’s folder</p>
<div class="frame"><table><caption><span>Saved views</span></caption><thead><tr><th scope="col">Name</th><th scope="col">Address</th><th scope="col"><span class="unseen">Remove</span></th></tr></thead><tbody>${rows}</tbody></table></div>`,
  };
}

/** Renders the menu of saved views, with a form that saves the current page. */
export function renderViews(views: readonly SavedView[], address: string): Html {
  const links = views.map(
    (view) =>
      html`<li><a href="${view.address}"${view.address === address ? html` aria-current="page"` : ''}>${foreign(view.name, LONGEST_NAME)}</a></li>\n`,
  );
  return html`<details class="views"><summary>Views</summary><div class="menu">${links.length === 0 ? '' : html`<ul>${links}</ul><p><a href="/views">Remove views</a></p>`}
<form action="/views" method="post"><input type="hidden" name="address" value="${address}"><label>Name <input name="name" maxlength="${LONGEST_NAME}" required autocomplete="off"></label> <button>Save this page</button></form></div></details>`;
}
