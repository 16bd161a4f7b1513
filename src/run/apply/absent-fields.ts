import type { Io } from '../../io/io.js';
import type { Relation } from '../../sql/relation.js';
import { code, sql } from '../../sql/sql.js';
import type { ItemValue } from '../../tables/item-names.js';
import { loadTableSchema } from '../../tables/schemas.js';
import type { Engine } from '../open/run-parts.js';

/** A field with this many values in the lake does not vanish at once because a service leaves out nulls. */
const KEPT_VALUES = 20n;

/** Finds fields that no export row has although the lake has many values in them. Their values are kept. */
export async function findAbsent(io: Io, { graph, typing }: Engine, items: Relation): Promise<ItemValue[]> {
  const { columns } = loadTableSchema('items');
  const absent: ItemValue[] = [];
  for (const name of typing.listAbsent()) {
    // Removal times are never kept, because an export may really contain no removed items.
    if (name === 'removed_at' || !columns.some((column) => column.name === name)) continue;
    if ((await graph.count(sql`FROM ${items} WHERE ${code(name)} IS NOT NULL`)) >= KEPT_VALUES) absent.push(name);
  }
  if (absent.length > 0) io.log('warn', 'export.fields_missing', { kept: absent.join(', ') });
  return absent;
}
