import { compactLake } from '../../lake/compact.js';
import { isSealed } from '../../lake/data-file.js';
import { fillEmptyTables } from '../../lake/fill-empty-tables.js';
import { settleRebuild } from '../../lake/swap-lake.js';
import type { Upkeep } from '../../run/open/wings.js';
import type { Wing } from '../wing.js';

const files: Upkeep = {
  recover: settleRebuild,
  /** Rewrites data files of other programs, because reading a folder with a plain glob can fail on them. */
  async prepare(db, lake, tables, io) {
    if (Object.values(tables).every(({ files }) => files.every(isSealed))) return false;
    await compactLake(db, lake, 'foreign', io);
    return true;
  },
  /** Adds a file without rows to each table without files, so that a plain glob finds the columns and types. */
  async complete(db, lake, { empty: tables, ...filling }) {
    await fillEmptyTables(db, lake, { tables, ...filling });
  },
  /** Merges the small files of each table that has many small files. */
  async tidy(db, lake, io, options) {
    await compactLake(db, lake, 'due', io, options);
  },
};

/** Keeps data files at a size that readers read fast, and rewrites data files that other programs have written. */
export const upkeep: Wing = { upkeep: [files] };
