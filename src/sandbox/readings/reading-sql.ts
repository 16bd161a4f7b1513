import type { Readings } from './readings.js';

const TIMES = {
  shortest: [`replace(instant::VARCHAR, ' ', 'T') || 'Z'`, 'instant'],
  microseconds: [`strftime(instant, '%Y-%m-%dT%H:%M:%S.%fZ')`, 'instant'],
  milliseconds: [`strftime(instant, '%Y-%m-%dT%H:%M:%S.%gZ')`, `date_trunc('millisecond', instant)`],
  seconds: [`strftime(instant, '%Y-%m-%dT%H:%M:%SZ')`, `date_trunc('second', instant)`],
} as const;

/** Readings that decide how rows are written, as macros: code that writes a row need not know which one applies. */
export function createReadingMacros(readings: Readings): string {
  const [text, instant] = TIMES[readings.get('timestamps')];
  const prefix = readings.get('changes.attributes') === 'prefixed' ? 'attributes.' : '';
  const category = readings.get('changes.category');
  return `
-- An instant as text, and what of it is known to those who read the text.
CREATE MACRO time_text(instant) AS ${text};
CREATE MACRO shown_time(instant) AS ${instant};
CREATE MACRO json_time(instant) AS coalesce('"' || time_text(instant) || '"', 'null');
-- A shop's entry without a title, as the feed has it.
CREATE MACRO feed_title(title) AS ${readings.get('feed.title') === 'null' ? 'title' : "coalesce(title, '')"};
-- Whether a REMOVED (2) or RELISTED (3) moves last_changed_at; any other kind does.
CREATE MACRO moves_last_changed(kind, value_moves) AS ${
    readings.get('lastChangedAt') === 'stays' ? 'kind NOT IN (2, 3) OR value_moves' : 'true'
  };
-- Members of \`changes\`, null where there is none. A category is JSON text.
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

/** Categories that items may move to; none where they never change. */
export function createCategoryChoice(readings: Readings): string {
  const some = readings.get('changes.category') === 'never' ? 'false' : 'category_id IS NOT NULL';
  return `CREATE TABLE category_choice AS
    SELECT row_number() OVER (ORDER BY category_id) - 1 AS k, count(*) OVER () AS choices, category_id, max(category_json) AS category_json
    FROM items WHERE ${some} GROUP BY category_id;`;
}
