import { compactLake } from '../../lake/compact.js';
import { isSealed } from '../../lake/data-file.js';
import { fillEmptyTables } from '../../lake/fill-empty-tables.js';
import { settleRebuild } from '../../lake/swap-lake.js';
import type { Upkeep } from '../../run/open/wings.js';
import type { Wing } from '../wing.js';

const files: Upkeep = {
  recover: settleRebuild,
  /** Rewrites files that other programs wrote, because a plain read of a table's folder can fail on them. */
  async prepare(db, lake, tables, io) {
    if (Object.values(tables).every(({ files }) => files.every(isSealed))) return false;
    await compactLake(db, lake, 'foreign', io);
    return true;
  },
  /** Adds an empty file to each empty table, so that a plain read finds the columns and types. */
  async complete(db, lake, { empty: tables, ...filling }) {
    await fillEmptyTables(db, lake, { tables, ...filling });
  },
  /** Merges the small files of tables that have many. Costs nothing if there are few. */
  async tidy(db, lake, io, options) {
    await compactLake(db, lake, 'due', io, options);
  },
};

/** Keeps data files at a size that is fast to read, and rewrites files that other programs wrote. */
export const upkeep: Wing = { upkeep: [files] };
