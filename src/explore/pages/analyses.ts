import { html } from '../../formats/html.js';
import { ANALYSIS_GROUPS } from '../analysis-groups.js';
import { type Page, renderSection } from '../page.js';

/** Lists the analyses, grouped by the question that they answer. */
export function analysesPage(): Page {
  const groups = ANALYSIS_GROUPS.map(({ question, titles }) =>
    renderSection(
      question,
      html`<ul class="plain">${Object.entries(titles).map(([name, title]) => html`<li><a href="/analyses/${name}">${title}</a></li>\n`)}</ul>`,
    ),
  );
  return { title: 'Analyses', body: html`<div class="groups">${groups}</div>` };
}
