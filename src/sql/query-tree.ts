import type { Database } from './connection.js';

/** A node of DuckDB's syntax tree (`json_serialize_sql`). */
export type Tree = Readonly<Record<string, unknown>>;

/** Parses one SELECT. Returns undefined if DuckDB can't serialize it, for example because of PIVOT. */
export async function parseSelect(db: Pick<Database, 'row'>, sql: string): Promise<Tree | undefined> {
  const row = await db.row('SELECT json_serialize_sql($1::VARCHAR)::VARCHAR AS tree', [sql]);
  return readSelect(row?.tree);
}

function readSelect(serialized: unknown): Tree | undefined {
  const [statement] = listTrees(asTree(JSON.parse(String(serialized))).statements);
  return statement === undefined ? undefined : asTree(statement.node);
}

export function asTree(value: unknown): Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Tree) : {};
}

/** Returns a list as nodes of the tree. Returns an empty list for any other value. */
export function listTrees(value: unknown): Tree[] {
  return Array.isArray(value) ? value.map(asTree) : [];
}

export function* walkTree(value: unknown): Generator<Tree> {
  if (Array.isArray(value)) for (const one of value) yield* walkTree(one);
  if (Array.isArray(value) || typeof value !== 'object' || value === null) return;
  yield asTree(value);
  for (const member of Object.values(value)) yield* walkTree(member);
}

export const toName = (value: unknown): string => String(value ?? '').toLowerCase();
