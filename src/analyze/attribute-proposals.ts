import * as z from 'zod';
import type { Database } from '../sql/connection.js';
import { bindQuery, readAnalysis } from '../sql/model.js';
import { itself, sql } from '../sql/sql.js';

const proposalRow = z.object({
  meaning: z.enum(['availability', 'shipping cost', 'condition', 'regular price', 'quantity', 'unit']),
  name: z.string(),
  items: z.bigint(),
  shops: z.bigint(),
  known_pct: z.number(),
  coverage_pct: z.number(),
});

/** An attribute that isn't mapped, but probably has this `meaning` (pipelines/analysis/attribute_proposals.sql). */
export type AttributeProposal = z.infer<typeof proposalRow>;

const OPTIONS = {
  availability: 'availability',
  'shipping cost': 'shippingCost',
  condition: 'condition',
  'regular price': 'regularPrice',
  quantity: 'quantity',
  unit: 'unit',
} as const;

/** The maximum number of names to propose for a meaning. Names that occur on the most items are proposed first. */
const MOST_NAMES = 5;

/** Proposes attributes to map. If `isAnew` is true, ignores the lake's present mapping, and proposes a complete one. */
export async function proposeAttributes(db: Database, { isAnew = false } = {}): Promise<AttributeProposal[]> {
  const offer_rules = isAnew ? sql`${itself('offer_rules')} WHERE rule <> 'attribute'` : itself('offer_rules');
  const { text } = bindQuery(readAnalysis('attribute_proposals'), { items: itself('items'), offer_rules });
  return z.array(proposalRow).parse(await db.rows(text));
}

/** Formats proposals as text, such as `availability by stock (98% of listed items)`. */
export function describeProposals(proposals: readonly AttributeProposal[]): string {
  return proposals
    .map(({ meaning, name, coverage_pct }) => `${meaning} by ${name} (${coverage_pct.toFixed(0)}% of listed items)`)
    .join(', ');
}

/**
 * Formats the `analysis.attributes` setting as YAML, such as `availability: [stock], shippingCost: [shipping.price]`.
 */
export function writeAttributes(proposals: readonly AttributeProposal[]): string {
  return Object.entries(OPTIONS)
    .flatMap(([meaning, option]) => {
      const names = proposals.filter((one) => one.meaning === meaning).map(({ name }) => quoteName(name));
      return names.length === 0 ? [] : [`${option}: [${names.slice(0, MOST_NAMES).join(', ')}]`];
    })
    .join(', ');
}

/** Quotes a name as JSON, which is also valid YAML. Doesn't quote plain words that YAML parses as strings. */
function quoteName(name: string): string {
  const isPlain = /^[A-Za-z_][\w.]*$/u.test(name) && !/^(true|false|null|yes|no|on|off|y|n)$/iu.test(name);
  return isPlain ? name : JSON.stringify(name);
}
