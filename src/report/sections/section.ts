import { type Content, type Html, html } from '../../formats/html.js';

/** A part of the page that the navigation leads to. */
export interface Section {
  id: string;
  title: string;
  body: Content;
}

export function renderSection({ id, title, body }: Section): Html {
  return html`<section id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title}</h2>
${body}
</section>
`;
}

/** Names with their values, e.g. the first figures. */
export function renderFigures(figures: readonly { name: string; value: Content; note?: Content }[]): Html {
  return html`<dl class="figures">${figures.map(
    ({ name, value, note }) =>
      html`<div><dt>${name}</dt><dd>${value}${note === undefined || note === '' ? '' : html` <small>${note}</small>`}</dd></div>\n`,
  )}</dl>`;
}

/** A chart with its title over it and what its marks mean under it. */
export function renderFigure(title: Content, chart: Html, legend: Content = ''): Html {
  const under = typeof legend === 'string' && legend !== '' ? html`<p class="legend text">${legend}</p>` : legend;
  return html`<figure><figcaption>${title}</figcaption>${chart}${under}</figure>`;
}
