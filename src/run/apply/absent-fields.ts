import type { Io } from '../../io/io.js';
import type { Relation } from '../../sql/relation.js';
import { code, sql } from '../../sql/sql.js';
import type { ItemValue } from '../../tables/item-names.js';
import { loadTableSchema } from '../../tables/schemas.js';
import type { Engine } from '../open/run-parts.js';

/**
 * If no row of an export contains a field, and the lake has at least this many values of it, the field is treated as
 * missing rather than null, because a service may omit nulls.
 */
const KEPT_VALUES = 20n;

/** Finds fields that no export row contains although the lake has many values for them. Those values are kept. */
export async function findAbsent(io: Io, { graph, typing }: Engine, items: Relation): Promise<ItemValue[]> {
  const { columns } = loadTableSchema('items');
  const absent: ItemValue[] = [];
  for (const name of typing.listAbsent()) {
    // Removal times aren't kept, because an export without them may have no removed items.
    if (name === 'removed_at' || !columns.some((column) => column.name === name)) continue;
    if ((await graph.count(sql`FROM ${items} WHERE ${code(name)} IS NOT NULL`)) >= KEPT_VALUES) absent.push(name);
  }
  if (absent.length > 0) io.log('warn', 'export.fields_missing', { kept: absent.join(', ') });
  return absent;
}
