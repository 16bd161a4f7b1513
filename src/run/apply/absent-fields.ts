import type { Io } from '../../io/io.js';
import type { Relation } from '../../sql/relation.js';
import { code, sql } from '../../sql/sql.js';
import type { ItemValue } from '../../tables/item-names.js';
import { loadTableSchema } from '../../tables/schemas.js';
import type { Engine } from '../open/run-parts.js';

/**
 * The number of items that must have a value of a field before `findAbsent` assumes that the service dropped the field.
 * With fewer values, the field counts as null, because a service may omit null values.
 */
const KEPT_VALUES = 20n;

/** Finds fields that no export row contains although many items of the lake have them. The run keeps their values. */
export async function findAbsent(io: Io, { graph, typing }: Engine, items: Relation): Promise<ItemValue[]> {
  const { columns } = loadTableSchema('items');
  const absent: ItemValue[] = [];
  for (const name of typing.listAbsent()) {
    // Skips `removed_at`, because an export that contains no removed items never has this field.
    if (name === 'removed_at' || !columns.some((column) => column.name === name)) continue;
    if ((await graph.count(sql`FROM ${items} WHERE ${code(name)} IS NOT NULL`)) >= KEPT_VALUES) absent.push(name);
  }
  if (absent.length > 0) io.log('warn', 'export.fields_missing', { kept: absent.join(', ') });
  return absent;
}
