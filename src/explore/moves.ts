import type { DuckDBConnection } from '@duckdb/node-api';
import { readAnalysis } from '../sql/model.js';

const CURRENCY = "currency = getvariable('currency')";
const KIND = "kind = getvariable('kind')";
const SITE = "site_id = getvariable('site_id')::BIGINT";
/** A condition for a category and its subcategories. */
const CATEGORY = `category_slug IN (${readAnalysis('category_tree', new Set(['category_names']))})`;

/** The analyses of moves since a moment, with the variables that filter their rows. */
const MOVES: Readonly<Record<string, Set>> = {
  movers: { currency: CURRENCY, kind: KIND, site_id: SITE, category: CATEGORY },
  spread_moves: { currency: CURRENCY, kind: KIND },
  stock_moves: { currency: CURRENCY, kind: KIND, site_id: SITE, category: CATEGORY },
};
const MOMENT = ['since', 'since_run'];
/** Larger values of `top` are answered by the analysis itself. */
const MOST_CHOSEN = /^([1-9]\d{0,3})?$/u;
const ALL = '1000000000';

const WEEK_MS = 7 * 86_400_000;

/** The moments that Today compares with, as variables. Before the second run, the only one is a day ago. */
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

/** The lake whose moves are kept. */
interface Source {
  /** Lends a session with exactly these variables. */
  lend(variables: [string, string][], work: (connection: DuckDBConnection) => Promise<void>): Promise<void>;
  /** Nested queries whose rows are already prepared. */
  prepared: ReadonlySet<string>;
  /** The number of the lake's newest run. */
  run: bigint | undefined;
  /** The last time that the service saw any item. */
  newest: Date | undefined;
}

/**
 * All moves since the moments of Today, kept as tables, because readers ask for them in one currency after the other
 * and of one shop after the other. While a table is missing, the analysis itself is run.
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

  /** The SQL of an analysis over kept rows; undefined if no rows are kept for its variables. */
  find(analysis: string, set: Set): string | undefined {
    const table = this.#tables.get(nameMoment(analysis, set));
    const choices = MOVES[analysis] ?? {};
    const given = Object.keys(set).filter((name) => set[name] !== '' && ![...MOMENT, 'top'].includes(name));
    const isKept = given.every((name) => name in choices) && MOST_CHOSEN.test(set.top ?? '');
    if (table === undefined || !isKept) return undefined;
    const filter = ['true', ...given.map((name) => choices[name])].join(' AND ');
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
