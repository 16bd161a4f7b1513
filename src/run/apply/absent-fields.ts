import type { Io } from '../../io/io.js';
import type { Relation } from '../../sql/relation.js';
import { code, sql } from '../../sql/sql.js';
import type { ItemValue } from '../../tables/item-names.js';
import { loadTableSchema } from '../../tables/schemas.js';
import type { Engine } from '../open/run-parts.js';

/** So many values of a field are not gone at once because a service leaves out what is null. */
const KEPT_VALUES = 20n;

/** Fields that no export row has, though the lake has many values in them: these are kept. */
export async function findAbsent(io: Io, { graph, typing }: Engine, items: Relation): Promise<ItemValue[]> {
  const { columns } = loadTableSchema('items');
  const absent: ItemValue[] = [];
  for (const name of typing.listAbsent()) {
    // An export may really have no removed items, so removal times are never kept.
    if (name === 'removed_at' || !columns.some((column) => column.name === name)) continue;
    if ((await graph.count(sql`FROM ${items} WHERE ${code(name)} IS NOT NULL`)) >= KEPT_VALUES) absent.push(name);
  }
  if (absent.length > 0) io.log('warn', 'export.fields_missing', { kept: absent.join(', ') });
  return absent;
}
