import { compactLake } from '../../lake/compact.js';
import { isSealed } from '../../lake/data-file.js';
import { fillEmptyTables } from '../../lake/fill-empty-tables.js';
import { settleRebuild } from '../../lake/swap-lake.js';
import type { Upkeep } from '../../run/open/wings.js';
import type { Wing } from '../wing.js';

const files: Upkeep = {
  recover: settleRebuild,
  /** Plain reads of a table's folder err on files of other programs. */
  async prepare(db, lake, tables, io) {
    if (Object.values(tables).every(({ files }) => files.every(isSealed))) return false;
    await compactLake(db, lake, 'foreign', io);
    return true;
  },
  /** A plain read then finds their columns and types instead of nothing. */
  async complete(db, lake, { empty: tables, ...filling }) {
    await fillEmptyTables(db, lake, { tables, ...filling });
  },
  /** Joins the small files of tables that have many. Costs nothing where there are few. */
  async tidy(db, lake, io, options) {
    await compactLake(db, lake, 'due', io, options);
  },
};

/** Files of a size that is quick to read, all of them written by pricelake. */
export const upkeep: Wing = { upkeep: [files] };
