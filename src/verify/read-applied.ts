/** Up to where a table's log says that it is applied. */
interface Applied {
  cursor: bigint | undefined;
  /** Newest change of history ahead of the cursor. */
  ahead: bigint | undefined;
  run: bigint | undefined;
  accepted: bigint | undefined;
  /** Version of items that a derived table was made from. */
  itemsVersion: bigint | undefined;
  /** Tells the query that it was made by. */
  query: bigint | undefined;
}

/** Decodes Delta's `txn` once more: a fault of the writer's decoder (src/lake/table-state.ts) must not hide from a proof. */
export function readApplied(table: { txn: ReadonlyMap<string, bigint> } | undefined): Applied {
  const read = (appId: string) => table?.txn.get(appId);
  return {
    cursor: read('pricelake.cursor'),
    ahead: read('pricelake.webhook'),
    run: read('pricelake.run'),
    accepted: read('pricelake.accepted'),
    itemsVersion: read('pricelake.items'),
    query: read('pricelake.query'),
  };
}
