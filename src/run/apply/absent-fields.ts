import type { Io } from '../../io/io.js';
import type { Relation } from '../../sql/relation.js';
import { code, sql } from '../../sql/sql.js';
import type { ItemValue } from '../../tables/item-names.js';
import { loadTableSchema } from '../../tables/schemas.js';
import type { Engine } from '../open/run-parts.js';

/**
 * A field that no row of an export contains counts as absent, not as null, if the lake has at least this many values,
 * because a service may leave out nulls.
 */
const KEPT_VALUES = 20n;

/** Finds fields that no row of an export contains although the lake has many values in them, which it keeps. */
export async function findAbsent(io: Io, { graph, typing }: Engine, items: Relation): Promise<ItemValue[]> {
  const { columns } = loadTableSchema('items');
  const absent: ItemValue[] = [];
  for (const name of typing.listAbsent()) {
    // Removal times are not kept, because an export without any may have no removed items.
    if (name === 'removed_at' || !columns.some((column) => column.name === name)) continue;
    if ((await graph.count(sql`FROM ${items} WHERE ${code(name)} IS NOT NULL`)) >= KEPT_VALUES) absent.push(name);
  }
  if (absent.length > 0) io.log('warn', 'export.fields_missing', { kept: absent.join(', ') });
  return absent;
}
