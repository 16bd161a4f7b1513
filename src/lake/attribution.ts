/** A site whose licence asks for a credit. */
export interface Attribution {
  siteId: bigint;
  name: string;
  host: string;
  attribution: string;
}

/** `ATTRIBUTION.md`: licence and credit texts, which must be passed on with the data (API section 2, SiteRef). */
export function writeAttributions(attributions: Attribution[]): string {
  const sorted = [...attributions].sort((a, b) => (a.siteId < b.siteId ? -1 : a.siteId > b.siteId ? 1 : 0));
  const intro =
    sorted.length === 0
      ? 'No site in this lake asks for a credit.'
      : 'The data of these sites may be passed on only together with their licence and credit texts.';
  const sections = sorted.map(
    ({ siteId, name, host, attribution }) =>
      `\n## ${escapeMarkdown(name)}\n\n${escapeMarkdown(host)}, site ${siteId}\n\n${quoteText(attribution)}\n`,
  );
  return `# Attribution\n\n${intro}\n${sections.join('')}`;
}

/** A block quote that keeps the text's own lines. */
function quoteText(text: string): string {
  return text
    .split(/\r\n|\r|\n/)
    .map((line) => (line.trim() === '' ? '>' : `> ${escapeMarkdown(line)}`))
    .join('  \n');
}

/** Foreign text for Markdown: no mark-up, no HTML, one line; what means nothing in Markdown stays as it is. */
function escapeMarkdown(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trimStart()
    .replaceAll(/[\\`*_[\]|~<>&]/g, '\\$&')
    .replace(/^(?:[#+\-=]|\d+(?=[.)]))/, (start) => (/\d/.test(start) ? `${start}\\` : `\\${start}`));
}
