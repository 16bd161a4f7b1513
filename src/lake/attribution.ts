import type { Database } from '../sql/connection.js';
import type { RelationGraph } from '../sql/graph.js';
import { quoteIdentifier } from '../sql/quote.js';
import type { Relation } from '../sql/relation.js';

export interface Attribution {
  siteId: bigint;
  name: string;
  host: string;
  attribution: string;
}

/**
 * Reads the newest license and credit text of each website, sorted by website id. This text must be passed on with the
 * data (API §2, SiteRef), even if the website no longer requires it.
 * @param sites SQL of a relation with the columns of the sites table
 */
export async function readAttributions(db: Database, sites: string): Promise<Attribution[]> {
  const rows = await db.rows(
    `SELECT site_id, name, host, attribution FROM ${sites} WHERE attribution IS NOT NULL
     QUALIFY row_number() OVER (PARTITION BY site_id ORDER BY valid_from DESC) = 1 ORDER BY site_id`,
  );
  return rows.map((row) => ({
    siteId: row.site_id as bigint,
    name: String(row.name),
    host: String(row.host),
    attribution: String(row.attribution),
  }));
}

/** Waits until the sites relation is computed, then reads the newest license and credit text of each website. */
export async function readCredits(graph: RelationGraph, sites: Relation): Promise<Attribution[]> {
  await sites.made;
  return readAttributions(graph.db, quoteIdentifier(sites.name));
}

/** Returns the credits as key-value metadata for Parquet files. The object is empty if there are no credits. */
export function describeAttributions(attributions: Attribution[]): Record<string, string> {
  if (attributions.length === 0) return {};
  const credits = attributions.map(({ siteId, ...site }) => ({ site_id: String(siteId), ...site }));
  return { 'pricelake.attribution': JSON.stringify(credits) };
}

/** Formats the text of `ATTRIBUTION.md`: the credits that must be passed on with the data (API §2, SiteRef). */
export function writeAttributions(attributions: Attribution[]): string {
  const intro =
    attributions.length === 0
      ? 'No site in this lake requires a credit.'
      : 'The data of these sites may be passed on only together with their license and credit texts.';
  const sections = attributions.map(
    ({ siteId, name, host, attribution }) =>
      `\n## ${escapeMarkdown(name)}\n\n${escapeMarkdown(host)}, site ${siteId}\n\n${quoteText(attribution)}\n`,
  );
  return `# Attribution\n\n${intro}\n${sections.join('')}`;
}

function quoteText(text: string): string {
  return text
    .split(/\r\n|\r|\n/)
    .map((line) => (line.trim() === '' ? '>' : `> ${escapeMarkdown(line)}`))
    .join('  \n');
}

/** Escapes text from the service for Markdown. Returns one line without markup or HTML. */
function escapeMarkdown(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trimStart()
    .replaceAll(/[\\`*_[\]|~<>&]/g, '\\$&')
    .replace(/^(?:[#+\-=]|\d+(?=[.)]))/, (start) => (/\d/.test(start) ? `${start}\\` : `\\${start}`));
}
