import type { DuckDBValue } from '@duckdb/node-api';
import { setVariables } from '../../analyze/analysis.js';
import { requireKnown } from '../../analyze/spread-selection.js';
import { readAnalysis } from '../../sql/model.js';
import type { Arguments, CommandContext } from '../command.js';
import type { matches } from '../commands/matches.js';
import { findTarget } from '../find-target.js';
import { showMoney } from '../output/money.js';
import { readTableResult } from '../output/result-set.js';
import { requireDestination, writeResult } from '../output/write-result.js';
import { readLake } from '../read-lake.js';

const SHOWN = {
  product: 'product',
  other: 'other',
  title: 'title',
  other_title: 'other title',
  similarity: 'words %',
  against: 'against',
  for: 'for',
} as const;

const CREDITS = `SELECT DISTINCT attribution AS text FROM sites
  WHERE is_current AND attribution IS NOT NULL AND site_id IN (SELECT unnest(site_ids) FROM candidates) ORDER BY text`;

/** Lists pairs of products that may be one, for a person to decide. */
export async function showMatches(request: Arguments<typeof matches>, context: CommandContext) {
  await requireDestination(request, context);
  const { lake } = await findTarget(request);
  return readLake({ path: lake, ...context }, async (opened) => {
    const { db } = opened;
    await requireKnown(db, { brand: request.brand });
    await setVariables(db, { brand: request.brand ?? null, top: BigInt(request.top), min_similarity: null });
    await db.run(`CREATE OR REPLACE TABLE candidates AS ${readAnalysis('match_candidates')}`);
    const result = await readTableResult(opened, 'candidates', CREDITS);
    return writeResult(result, request, context, { headings: SHOWN, show });
  });
}

function show(name: string, value: DuckDBValue): DuckDBValue {
  return name === 'similarity' && typeof value === 'number' ? Math.round(100 * value).toString() : showMoney(value);
}
