import { readFileSync } from 'node:fs';
import { listAnalyses } from '../../src/analyze/analysis.js';
import { describeType, readVariables, type Variable } from '../../src/analyze/variables.js';
import { renderTable } from '../../src/deliver/markdown.js';
import { packagePath } from '../../src/io/package-path.js';

/** References that tests in test/analyze compare with: recorded values of other programs, and formulas. */
const REFERENCES = [
  ['Jevons, chained and against the first month', 'pyindexnum 0.4.0', '3e-16'],
  ['GEKS-Jevons and its splices (movement, window, half, mean)', 'pyindexnum 0.4.0', '8e-16'],
  ['TPD, and its splices', 'pyindexnum 0.4.0', '1e-14'],
  ['Laspeyres, Törnqvist, GEKS-Törnqvist and its splices', 'pyindexnum 0.4.0', '1e-15'],
  ['fbew of GEKS-Jevons, TPD and GEKS-Törnqvist', 'pyindexnum 0.4.0, linked by hand', '3e-15'],
  ['GEKS-Jevons, GEKS-Törnqvist', 'PriceIndexCalc2 0.8.0', '2e-15'],
  ['carried prices', 'pyindexnum 0.4.0, test panel', '< 1e-9'],
  ['Laspeyres, Young, Törnqvist and GEKS-Törnqvist over indices of shops', 'formulas, test panel', '< 1e-9'],
  ['Young and contributions along a tree', 'formulas, test panel', '< 1e-9'],
  ['overall mean imputation, contributions of groups', 'formulas, test panel', '< 1e-9'],
  ['price of a period: mean, median, collection week, last; drop_pct', 'sums over spells, seeded listings', '< 1e-9'],
  ['bootstrap: level, std_error, lower and upper', 'the same draws by own program, test panel', '< 1e-9'],
];

/** The analyses by topic, for the overview above their sections. */
const TOPICS: Readonly<Record<string, readonly string[]>> = {
  'Spreads and offers': [
    ...['widest_spreads', 'price_spread', 'spread_summary', 'spread_histogram', 'spread_by_category', 'spread_by_day'],
    ...['spread_moves', 'daily_spreads', 'dispersion', 'persistence', 'law_of_one_price'],
    ...['offers', 'offer_prices', 'product_offers'],
  ],
  'Prices over time': [
    ...['movers', 'changes_by_day', 'dynamics', 'product_changes', 'product_spells', 'lows_highs', 'cheapest_days'],
    ...['price_leaders', 'sales', 'reductions', 'prior_price'],
  ],
  'Price indices': [
    ...['price_index', 'weighted_index', 'index_contributions', 'index_interval', 'shop_index_by_category'],
  ],
  'Shops and their range': ['assortment', 'assortment_gaps', 'shop_overlap', 'source_freshness'],
  'Stock and life of listings': ['availability', 'stock_moves', 'listing_lifetimes', 'successors'],
  'Products and attributes': [
    ...['find_products', 'match_candidates', 'attribute_coverage', 'attribute_names', 'attribute_proposals'],
  ],
};

/** @throws Error for an analysis that is in no topic or in two, because readers would not find it */
function renderOverview(): string {
  const named = Object.values(TOPICS).flat();
  const lost = listAnalyses().filter((name) => named.filter((one) => one === name).length !== 1);
  const unknown = named.filter((name) => !listAnalyses().includes(name));
  if (lost.length + unknown.length > 0) {
    throw new Error(
      `TOPICS in docs/render/analyses.ts must name each analysis once: ${[...lost, ...unknown].join(', ')}`,
    );
  }
  const lines = Object.entries(TOPICS).map(
    ([topic, names]) => `- **${topic}**: ${names.map((name) => `[${name}](#${name})`).join(', ')}\n`,
  );
  return lines.join('');
}

/** `docs/reference/analyses.md`. */
export function renderAnalyses(): string {
  const common = listCommon();
  const sections = listAnalyses().map(
    (name) => `## ${name}\n\n${readFirstComment(name)}\n${renderVariables(name, common)}`,
  );
  return `# Analyses

${renderOverview()}
Run one with \`pricelake query --analysis NAME\`. Set a variable with \`--set name=value\`; \`any of\` takes several values, such as \`--set by="category and shop"\`. Counts, prices and times are exact; percentages, means and indices are doubles, unless a file's first lines say otherwise. The files [also run in plain DuckDB](../analyst/measure-prices.md#run-an-analysis).

Several analyses have these variables:

${[...common.keys()].map((line) => `- ${line}\n`).join('')}
## References

The table shows the largest differences for indices around 1. \`test/interop/compare_indices.py\`, which accepts your own panel, compared 36 months of recorded prices and quantities of white sugar (40 items, windows of 13 months); \`npm run interop\` compared a test panel. R and its package PriceIndices were not tested.

${renderTable(['method', 'reference', 'largest difference'], REFERENCES)}
${sections.join('\n')}`;
}

/** Returns the comment at the start of a query. Parts that begin with "Source:" and the like become paragraphs. */
function readFirstComment(name: string): string {
  const sql = readFileSync(packagePath(`pipelines/analysis/${name}.sql`), 'utf8');
  const [comment = ''] = /^(?:--.*\n)+/.exec(sql) ?? [];
  const [about = ''] = comment.split('-- Variables:\n', 1);
  const paragraphs = about
    .replaceAll(/^-- ?/gm, '')
    .trim()
    .split(/\s(?=(?:Source|Exact|Limits|In plain DuckDB, first):)/g);
  // These paragraphs are for readers of the file itself.
  const shown = paragraphs.filter((paragraph) => !/^(?:In plain DuckDB|Exact:)/.test(paragraph));
  return shown.join('\n\n');
}

/** A variable that at least this many analyses declare in the same way is explained only once. */
const COMMON = 2;

/** Returns the most frequent declaration of each common variable, keyed by its name. */
function listCommon(): Map<string, string> {
  const lines = listAnalyses().flatMap((name) => readVariables(name).map((one) => [describeVariable(one), one.name]));
  const counts = new Map<string, number>();
  for (const [line = ''] of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  const byName = new Map<string, string>();
  for (const [line = '', name = ''] of lines) {
    const count = counts.get(line) ?? 0;
    if (count >= COMMON && count > (counts.get(byName.get(name) ?? '') ?? 0)) byName.set(name, line);
  }
  return new Map([...byName].map(([name, line]) => [line, name]));
}

function renderVariables(name: string, common: ReadonlyMap<string, string>): string {
  const lines = readVariables(name).map(describeVariable);
  const own = lines.filter((line) => !common.has(line));
  const shared = lines.flatMap((line) => common.get(line) ?? []).map((one) => `\`${one}\``);
  const list = own.length === 0 ? '' : `\nVariables:\n\n${own.map((line) => `- ${line}\n`).join('')}`;
  return shared.length === 0 ? list : `${list}\n${own.length === 0 ? 'Variables' : 'Also'}: ${shared.join(', ')}.\n`;
}

function describeVariable(one: Variable): string {
  const value = [describeType(one), describeDefault(one)].filter((part) => part !== '').join('; ');
  return `\`${one.name}\` (${value}): ${one.about}`;
}

function describeDefault({ isRequired, default: unset }: Variable): string {
  if (isRequired) return 'required';
  return unset === undefined ? '' : `default ${unset}`;
}
