import type { Database } from '../src/sql/connection.js';

interface Node {
  type?: string;
  table_name?: string;
  cte_map?: { map: { key: string }[] };
}

/** The sorted names of the relations that a statement reads, without those that it defines itself. */
export async function listRelations(db: Database, sql: string): Promise<string[]> {
  const row = await db.row('SELECT json_serialize_sql(CAST($1 AS VARCHAR)) AS tree', [sql]);
  const read = new Set<string>();
  const own = new Set<string>();
  JSON.parse(String(row?.tree), (_key, value: Node | null) => {
    if (value?.type === 'BASE_TABLE' && value.table_name !== undefined) read.add(value.table_name);
    for (const { key } of value?.cte_map?.map ?? []) own.add(key);
    return value;
  });
  return [...read].filter((name) => !own.has(name)).sort();
}
