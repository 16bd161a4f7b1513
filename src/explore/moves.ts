import type { DuckDBConnection } from '@duckdb/node-api';
import { readAnalysis } from '../sql/model.js';

const CURRENCY = "currency = getvariable('currency')";
const KIND = "kind = getvariable('kind')";
const SITE = "site_id = getvariable('site_id')::BIGINT";
/** Selects rows of a category and its subcategories. */
const CATEGORY = `category_slug IN (${readAnalysis('category_tree', new Set(['category_names']))})`;
/** Selects products by brand, by whether the reader's list contains them, or by both. */
const SELECTED = `product_id IN (${readAnalysis('selected_products', new Set(['own_products']))})`;
const BOTH = { currency: CURRENCY, kind: KIND, brand: SELECTED, in_list: SELECTED };

/** The analyses of price moves, with a filter condition for each of their variables. */
const MOVES: Readonly<Record<string, Set>> = {
  movers: { ...BOTH, site_id: SITE, category: CATEGORY },
  spread_moves: BOTH,
  stock_moves: { ...BOTH, site_id: SITE, category: CATEGORY },
};
const MOMENT = ['since', 'since_run'];
/** Matches values of `top` below 10,000. For larger values, the analysis itself is run. */
const MOST_CHOSEN = /^([1-9]\d{0,3})?$/u;
const ALL = '1000000000';

const WEEK_MS = 7 * 86_400_000;

/**
 * Returns the variables that select the past moment to compare with: the previous run, a week ago, or a day ago. If
 * there is no previous run, or the current time of the data is unknown, selects a day ago.
 */
export function describeMoment(
  since: 'run' | 'day' | 'week',
  run: bigint | undefined,
  newest: Date | undefined,
): Record<string, string> {
  if (since === 'run' && run !== undefined && run > 1n) return { since_run: String(run - 1n) };
  if (since === 'week' && newest !== undefined) return { since: new Date(newest.getTime() - WEEK_MS).toISOString() };
  return {};
}

type Set = Readonly<Record<string, string>>;

/** The lake for which price moves are computed in advance. */
interface Source {
  /** Runs `work` with a session that has exactly these variables. */
  lend(variables: [string, string][], work: (connection: DuckDBConnection) => Promise<void>): Promise<void>;
  /** The names of nested queries whose rows are already stored in a table. */
  prepared: ReadonlySet<string>;
  /** The number of the newest run. */
  run: bigint | undefined;
  /** When the service last saw any item. */
  newest: Date | undefined;
}

/**
 * Tables of all moves of prices and stock since the previous run, in the last day and in the last week. Readers often
 * filter these moves by currency or shop, and filtering a table is faster than computing the moves again.
 */
export class Moves {
  readonly #tables = new Map<string, string>();

  async make({ lend, prepared, run, newest }: Source): Promise<void> {
    for (const since of ['run', 'day', 'week'] as const) {
      const moment = describeMoment(since, run, newest);
      for (const analysis of Object.keys(MOVES)) {
        const table = `${analysis}_since_${since}`;
        const rows = `SELECT row_number() OVER () AS place, * FROM (${readAnalysis(analysis, prepared)})`;
        const key = nameMoment(analysis, moment);
        if (this.#tables.has(key)) continue;
        await lend([...Object.entries(moment), ['top', ALL]], async (connection) => {
          await connection.run(`CREATE TABLE ${table} AS ${rows}`);
        });
        this.#tables.set(key, table);
      }
    }
  }

  /** Returns SQL that filters stored rows of an analysis, or undefined if no stored rows match these variables. */
  find(analysis: string, set: Set): string | undefined {
    const table = this.#tables.get(nameMoment(analysis, set));
    const choices = MOVES[analysis] ?? {};
    const given = Object.keys(set).filter((name) => set[name] !== '' && ![...MOMENT, 'top'].includes(name));
    const isKept = given.every((name) => name in choices) && MOST_CHOSEN.test(set.top ?? '');
    if (table === undefined || !isKept) return undefined;
    const filter = ['true', ...new Set(given.map((name) => choices[name]))].join(' AND ');
    return `WITH counted AS (
  SELECT count(*) AS of_kind, min(place, ${set.top || 100}) AS places FROM ${table} WHERE ${filter} GROUP BY kind
)
SELECT moves.* EXCLUDE (place) REPLACE (counted.of_kind AS of_kind)
FROM ${table} AS moves
JOIN (SELECT of_kind, unnest(places) AS place FROM counted) AS counted USING (place)
ORDER BY place`;
  }
}

const nameMoment = (analysis: string, set: Set) => JSON.stringify([analysis, ...MOMENT.map((name) => set[name] ?? '')]);
