/** Keeps the previous versions of the rows that a round changes. */
export const KEEP_STEP_PAST = 'INSERT INTO past SELECT i.*, s.observed_at FROM items i JOIN step s USING (n);';

/** Keeps the previous versions of the rows that the scrapes of a step see. */
export const KEEP_SCRAPED_PAST = `
INSERT INTO past SELECT i.*, s.scraped_at FROM items i JOIN scrapes s USING (model_id)
WHERE i.removed_at IS NULL AND i.last_seen_at < s.scraped_at;
`;

/** Deletes row versions that were replaced before $until (microseconds since 1970). */
export const FORGET_PAST = 'DELETE FROM past WHERE until < make_timestamp($until::BIGINT);';

/**
 * Creates a macro that returns the items at an instant. For each item, this is the oldest version replaced after the
 * instant.
 */
export const CREATE_PAST_MACRO = `
CREATE MACRO items_at(instant) AS TABLE
SELECT * EXCLUDE (until) FROM (
  SELECT *, NULL::TIMESTAMP AS until FROM items ANTI JOIN (SELECT n FROM past WHERE until > instant) USING (n)
  UNION ALL
  (SELECT * FROM past WHERE until > instant QUALIFY row_number() OVER (PARTITION BY n ORDER BY until) = 1)
) WHERE first_seen_at <= instant;
`;

/** The moment whose data a response shows, in microseconds since 1970; null for the present. */
export type Moment = number | null;

/** Returns the SQL relation that contains the items as of a moment. */
export function itemsAt(moment: Moment): string {
  return moment === null ? 'items' : `items_at(make_timestamp(${moment}))`;
}
