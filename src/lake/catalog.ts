import { quoteIdentifier } from '../duckdb/quote.js';
import { readAnalysis } from '../sql/model.js';
import { loadTableSchema } from '../tables/schemas.js';
import type { TableState } from '../tables/table.js';
import { tableRelation, toRelationFile } from '../tables/table-relation.js';

const HEADER = `-- Views over exactly the files that the newest run published. Written by pricelake after every run.
-- Paths are relative, so that the folder can be moved or mounted elsewhere: run it with the lake as working directory,
--   cd lake && duckdb -init catalog.sql
`;

/** `catalog.sql`: a view a table and one of price spells, for any DuckDB from 1.2 on; a table without files is a typed view without rows. */
export function writeCatalog(states: TableState[]): string {
  const views = states.map((state) => {
    const { description } = loadTableSchema(state.table);
    const files = state.files.map((file) => toRelationFile(file, `${state.table}/${file.path}`));
    const relation = tableRelation(state.table, files, state);
    return `\n-- ${description}\nCREATE OR REPLACE VIEW ${quoteIdentifier(state.table)} AS SELECT * FROM ${relation};\n`;
  });
  const spells = `\nCREATE OR REPLACE VIEW price_spells AS\n${readAnalysis('price_spells').trim()};\n`;
  return HEADER + views.join('') + spells;
}
