import type { DuckDBConnection } from '@duckdb/node-api';
import { readAnalysis } from '../sql/model.js';

const CURRENCY = "currency = getvariable('currency')";
const KIND = "kind = getvariable('kind')";
const SITE = "site_id = getvariable('site_id')::BIGINT";
/** A category and those below it. */
const CATEGORY = `category_slug IN (${readAnalysis('category_tree', new Set(['category_names']))})`;

/** Analyses of what has moved since a moment, with the variables that choose among their rows. */
const MOVES: Readonly<Record<string, Set>> = {
  movers: { currency: CURRENCY, kind: KIND, site_id: SITE, category: CATEGORY },
  spread_moves: { currency: CURRENCY, kind: KIND },
  stock_moves: { currency: CURRENCY, kind: KIND, site_id: SITE, category: CATEGORY },
};
const MOMENT = ['since', 'since_run'];
/** More rows of a kind are read from the analysis itself. */
const MOST_CHOSEN = /^([1-9]\d{0,3})?$/u;
const ALL = '1000000000';

const WEEK_MS = 7 * 86_400_000;

/** Moments since which Today tells what moved, as variables. Before the second run, a day ago is the only known one. */
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

/** The lake that moves are read from. */
interface Source {
  /** Lends a session with these variables, and no others. */
  lend(variables: [string, string][], work: (connection: DuckDBConnection) => Promise<void>): Promise<void>;
  /** Nested queries whose rows are there already. */
  prepared: ReadonlySet<string>;
  /** Number of its run. */
  run: bigint | undefined;
  /** When the service last saw any item. */
  newest: Date | undefined;
}

/**
 * All that has moved since the moments of Today, kept as tables: readers ask for it in one currency after the other, of one
 * shop after the other. Until a table is there, the analysis itself is asked.
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

  /** SQL of an analysis over kept rows; undefined if there are none for its variables. */
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
