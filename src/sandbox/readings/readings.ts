import * as z from 'zod';
import { PricelakeError } from '../../io/errors.js';
import { suggestName } from '../../io/suggest-name.js';
import { describeValues, factsOf, MAX_LAG, READING_NAMES, type ReadingName, type ReadingValue } from './registry.js';

type Values = Record<string, string | number>;

const readingName = z.enum(READING_NAMES as [ReadingName, ...ReadingName[]]);
const seconds = z
  .string()
  .regex(/^\d+[sm]$/)
  .transform((text) => Number.parseInt(text, 10) * (text.endsWith('m') ? 60 : 1))
  .refine((value) => value <= MAX_LAG);

/** The sandbox's behavior where the API document leaves it open. Each such choice is called a reading. */
export class Readings {
  #values: Values = Object.fromEntries(READING_NAMES.map((name) => [name, defaultOf(name)]));

  /** @throws PricelakeError `usage` if a name or a value is unknown */
  constructor(specs: readonly string[] = []) {
    Object.assign(this.#values, parseReadings(specs));
  }

  get<N extends ReadingName>(name: N): ReadingValue<N> {
    return this.#values[name] as ReadingValue<N>;
  }

  /** True if any reading makes responses lag behind the feed. */
  get hasLag(): boolean {
    return READING_NAMES.some((name) => factsOf(name).values === 'seconds' && this.#values[name] !== 0);
  }

  /**
   * Changes the given readings for subsequent responses.
   * @throws PricelakeError `usage` if a reading is invalid or can only be set at the start; then nothing is changed
   */
  change(specs: readonly string[]): void {
    const given = parseReadings(specs);
    const fixed = READING_NAMES.find(
      (name) => factsOf(name).atStart && name in given && given[name] !== this.#values[name],
    );
    if (fixed !== undefined)
      throw refuse(`${fixed}=${given[fixed]}`, 'it can only be set at the start, so restart the sandbox');
    Object.assign(this.#values, given);
  }

  /** Lists all readings with their values and meanings. */
  list(): { name: ReadingName; value: string; says: string; isDefault: boolean }[] {
    return READING_NAMES.map((name) => {
      const { says, values } = factsOf(name);
      const value = `${this.#values[name]}${values === 'seconds' ? 's' : ''}`;
      return { name, value, says, isDefault: this.#values[name] === defaultOf(name) };
    });
  }
}

function defaultOf(name: ReadingName): string | number {
  const { values } = factsOf(name);
  return values === 'seconds' ? 0 : values[0];
}

/** Parses readings, each as `NAME=VALUE`. If a name occurs twice, the later value applies. */
function parseReadings(specs: readonly string[]): Values {
  return Object.fromEntries(
    specs.map((spec) => {
      const [, given = '', text = ''] = /^([^=]+)=(.*)$/.exec(spec) ?? [];
      if (given === '') throw refuse(spec, 'expected NAME=VALUE, such as lag.items=120s');
      const name = readingName.safeParse(given);
      if (!name.success) throw refuse(spec, `unknown reading '${given}'${hint(given, READING_NAMES)}`);
      const { values } = factsOf(name.data);
      const value = (values === 'seconds' ? seconds : z.enum(values)).safeParse(text);
      if (value.success) return [name.data, value.data];
      const near = values === 'seconds' ? '' : hint(text, values);
      throw refuse(spec, `${name.data} is ${describeValues(name.data)}${near}`);
    }),
  );
}

/** Returns a hint with the most similar name. For an unknown reading, the hint also lists all names. */
function hint(given: string, known: readonly string[]): string {
  const near = suggestName(given, known);
  const list = known === READING_NAMES ? `; choose from ${known.join(', ')}` : '';
  return `${near === undefined ? '' : `; did you mean ${near}?`}${list}`;
}

function refuse(spec: string, reason: string): PricelakeError {
  return new PricelakeError('usage', `reading '${spec}': ${reason}`);
}

const TIMES = {
  shortest: [`replace(instant::VARCHAR, ' ', 'T') || 'Z'`, 'instant'],
  microseconds: [`strftime(instant, '%Y-%m-%dT%H:%M:%S.%fZ')`, 'instant'],
  milliseconds: [`strftime(instant, '%Y-%m-%dT%H:%M:%S.%gZ')`, `date_trunc('millisecond', instant)`],
  seconds: [`strftime(instant, '%Y-%m-%dT%H:%M:%SZ')`, `date_trunc('second', instant)`],
} as const;

/**
 * Builds SQL macros for the interpretations (readings) that determine the text of rows, so that queries don't depend on
 * these interpretations.
 */
export function createReadingMacros(readings: Readings): string {
  const [text, instant] = TIMES[readings.get('timestamps')];
  const prefix = readings.get('changes.attributes') === 'prefixed' ? 'attributes.' : '';
  const category = readings.get('changes.category');
  return `
-- An instant as text, and truncated to the precision of that text.
CREATE MACRO time_text(instant) AS ${text};
CREATE MACRO shown_time(instant) AS ${instant};
CREATE MACRO json_time(instant) AS coalesce('"' || time_text(instant) || '"', 'null');
-- The title of an untitled item, as the feed shows it.
CREATE MACRO feed_title(title) AS ${readings.get('feed.title') === 'null' ? 'title' : "coalesce(title, '')"};
-- True if a change updates last_changed_at. For REMOVED (2) and RELISTED (3), the lastChangedAt reading determines it.
CREATE MACRO moves_last_changed(kind, value_moves) AS ${
    readings.get('lastChangedAt') === 'stays' ? 'kind NOT IN (2, 3) OR value_moves' : 'true'
  };
-- Builds members of \`changes\`; null for a missing member. A category is JSON text.
CREATE MACRO price_member(old, fresh) AS ${
    readings.get('changes.price') === 'absent'
      ? 'NULL::VARCHAR'
      : `'"price":[' || json_money(old) || ',' || json_money(fresh) || ']'`
  };
CREATE MACRO attribute_member(name, old, fresh) AS '"${prefix}' || name || '":[' || old || ',' || fresh || ']';
CREATE MACRO category_member(old, fresh) AS '"category":[' || json_text(old::JSON->>'${category}') || ','
  || json_text(fresh::JSON->>'${category}') || ']';
`;
}

/** Builds SQL for the table of categories that items can move to. It is empty if categories never change. */
export function createCategoryChoice(readings: Readings): string {
  const some = readings.get('changes.category') === 'never' ? 'false' : 'category_id IS NOT NULL';
  return `CREATE TABLE category_choice AS
    SELECT row_number() OVER (ORDER BY category_id) - 1 AS k, count(*) OVER () AS choices, category_id, max(category_json) AS category_json
    FROM items WHERE ${some} GROUP BY category_id;`;
}
