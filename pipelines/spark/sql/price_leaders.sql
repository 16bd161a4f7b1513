-- Made by generate.py from pipelines/analysis/price_leaders.sql: change that one. Source baa75b3841382b8a.
-- step: price_leaders__sellers, kept
SELECT DISTINCT
  product_id,
  site_id
FROM (
  SELECT
    item_id,
    product_id,
    site_id,
    currency,
    price,
    previous_price,
    price_changed_at,
    first_seen_at,
    last_seen_at,
    removed_at,
    gone_at,
    is_listed,
    category_slug,
    title,
    url
  FROM items
  WHERE
    NOT product_id IS NULL
);
-- step: price_leaders__moved
SELECT
  product_id,
  site_id,
  currency,
  kind,
  observed_at,
  price,
  previous_price,
  LOG10(CAST(price AS DOUBLE) / CAST(previous_price AS DOUBLE)) AS tens
FROM (
  SELECT
    product_id,
    site_id,
    COALESCE(currency, listing_currency) AS currency,
    kind,
    observed_at,
    price,
    previous_price
  FROM (
    SELECT
      own.product_id,
      own.site_id,
      history.item_id,
      change_id,
      observed_at,
      kind,
      previous_price,
      price,
      history.currency,
      own.listing_currency,
      changes,
      origin,
      history.run_id
    FROM history
    JOIN (
      SELECT
        item_id,
        product_id,
        site_id,
        currency AS listing_currency
      FROM items
      WHERE
        NOT product_id IS NULL
    ) AS own
      USING (item_id)
  )
  WHERE
    price <> previous_price
    AND price > 0
    AND previous_price > 0
    AND (
      :site_id IS NULL
      OR product_id IN (
        SELECT
          product_id
        FROM price_leaders__sellers AS sellers
        WHERE
          site_id = CAST(:site_id AS BIGINT)
      )
    )
);
-- step: price_leaders__known, kept
SELECT
  slug,
  name,
  path
FROM (
  SELECT DISTINCT
    category_slug AS slug,
    category_name AS name,
    category_path AS path
  FROM items
  WHERE
    NOT category_slug IS NULL
)
WHERE
  NOT :category IS NULL;
-- step: price_leaders__separators
SELECT
  MODE(
    REGEXP_EXTRACT(LEFT(path, LENGTH(path) - LENGTH(name)), '[^\\p{L}\\p{N}]+\\z', 0)
  ) AS separator
FROM price_leaders__known AS known
WHERE
  ENDSWITH(path, name) AND LENGTH(path) > LENGTH(name);
-- step: price_leaders__named, kept
SELECT
  slug,
  path
FROM (
  SELECT
    slug,
    path,
    place,
    MIN(place) OVER () AS _w
  FROM (
    SELECT
      slug,
      path,
      CASE
        WHEN slug = :category
        THEN 1
        WHEN LOWER(path) = LOWER(CAST(:category AS STRING))
        THEN 2
        WHEN LOWER(name) = LOWER(CAST(:category AS STRING))
        THEN 3
      END AS place
    FROM price_leaders__known AS known
  )
  WHERE
    NOT place IS NULL
) AS _t
WHERE
  place = _w;
-- step: price_leaders__chosen
SELECT
  path
FROM price_leaders__named AS named
UNION
SELECT
  CAST(:category AS STRING);
-- step: price_leaders__part
SELECT
  slug
FROM price_leaders__named AS named
UNION
SELECT
  slug
FROM price_leaders__known AS known, price_leaders__chosen AS chosen, price_leaders__separators AS separators
WHERE
  LOWER(known.path) = LOWER(chosen.path)
  OR (
    separator <> ''
    AND STARTSWITH(LOWER(known.path), LOWER(chosen.path || separator))
  );
-- step: price_leaders__moves, kept
SELECT DISTINCT
  product_id,
  currency,
  site_id,
  observed_at AS moved_at,
  price > previous_price AS is_up
FROM price_leaders__moved AS moved
WHERE
  kind <> 'REMOVED'
  AND NOT (
    ABS(tens - ROUND(tens)) <= 0.2 AND ABS(ROUND(tens)) BETWEEN 1 AND 3
  )
  AND (
    :currency IS NULL OR currency = :currency
  )
  AND (
    :category IS NULL
    OR product_id IN (
      SELECT
        product_id
      FROM products
      WHERE
        category_slug IN (
          SELECT
            slug
          FROM price_leaders__part
        )
    )
  );
-- step: price_leaders__bounds, kept
SELECT
  MIN(UNIX_MICROS(moved_at)) AS first_us,
  MAX(UNIX_MICROS(moved_at)) AS last_us,
  COALESCE(CAST(:hours AS BIGINT), 72) * 3600000000 AS hours_us
FROM price_leaders__moves AS moves;
-- step: price_leaders__leaders, kept
SELECT
  product_id,
  currency,
  is_up,
  site_id,
  SUM(LEAST(hours_us, next_us - moved_us)) / ANY_VALUE(last_us - first_us) IGNORE NULLS AS share
FROM (
  SELECT
    product_id,
    currency,
    is_up,
    site_id,
    UNIX_MICROS(moved_at) AS moved_us,
    LEAD(UNIX_MICROS(moved_at), 1, last_us) OVER (PARTITION BY product_id, currency, is_up, site_id ORDER BY moved_at NULLS LAST) AS next_us,
    hours_us,
    first_us,
    last_us
  FROM price_leaders__moves AS moves
  CROSS JOIN price_leaders__bounds AS bounds
)
GROUP BY
  product_id,
  currency,
  is_up,
  site_id;
-- step: price_leaders__near_follows
SELECT
  later.product_id,
  later.currency,
  later.is_up,
  first.site_id AS leader_site_id,
  later.site_id AS follower_site_id,
  UNIX_MICROS(later.moved_at) AS moved_us,
  MAX(UNIX_MICROS(first.moved_at)) AS led_us
FROM price_leaders__moves AS later
JOIN price_leaders__moves AS first
  ON first.product_id = later.product_id
  AND first.currency = later.currency
  AND first.is_up = later.is_up
  AND first.site_id <> later.site_id
  AND first.moved_at < later.moved_at
  AND first.moved_at >= later.moved_at - MAKE_DT_INTERVAL(0, CAST(COALESCE(:hours, 72) AS INT))
WHERE
  COALESCE(CAST(:hours AS BIGINT), 72) <= 336
  AND (
    :site_id IS NULL OR CAST(:site_id AS BIGINT) IN (first.site_id, later.site_id)
  )
GROUP BY ALL;
-- step: price_leaders__far_follows
SELECT
  moves.product_id,
  moves.currency,
  moves.is_up,
  leaders.site_id AS leader_site_id,
  moves.site_id AS follower_site_id,
  UNIX_MICROS(moved_at) AS moved_us,
  MAX(CASE WHEN moves.site_id = leaders.site_id THEN UNIX_MICROS(moved_at) END) OVER (
    PARTITION BY moves.product_id, moves.currency, moves.is_up, leaders.site_id
    ORDER BY UNIX_MICROS(moved_at) NULLS LAST
    RANGE BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ) AS led_us
FROM price_leaders__moves AS moves
JOIN price_leaders__leaders AS leaders
  ON leaders.product_id = moves.product_id
  AND leaders.currency = moves.currency
  AND leaders.is_up = moves.is_up
WHERE
  CAST(:hours AS BIGINT) > 336
  AND (
    :site_id IS NULL OR CAST(:site_id AS BIGINT) IN (moves.site_id, leaders.site_id)
  );
-- step: price_leaders__follows, kept
SELECT
  leader_site_id,
  follower_site_id,
  product_id,
  moved_us,
  led_us
FROM price_leaders__near_follows AS near_follows
UNION ALL
SELECT
  leader_site_id,
  follower_site_id,
  product_id,
  moved_us,
  led_us
FROM price_leaders__far_follows AS far_follows
CROSS JOIN price_leaders__bounds AS bounds
WHERE
  leader_site_id <> follower_site_id AND moved_us - led_us <= hours_us;
-- step: price_leaders__by_chance
SELECT
  leaders.site_id AS leader_site_id,
  followers.site_id AS follower_site_id,
  SUM(moved * LEAST(share, 1)) AS chance_follows,
  SUM(moved * LEAST(share, 1) * (
    1 - LEAST(share, 1)
  )) AS chance_variance
FROM price_leaders__leaders AS leaders
JOIN (
  SELECT
    product_id,
    currency,
    is_up,
    site_id,
    COUNT(*) AS moved
  FROM price_leaders__moves AS moves
  GROUP BY
    product_id,
    currency,
    is_up,
    site_id
) AS followers
  ON followers.product_id = leaders.product_id
  AND followers.currency = leaders.currency
  AND followers.is_up = leaders.is_up
  AND followers.site_id <> leaders.site_id
GROUP BY
  leaders.site_id,
  followers.site_id;
-- step: price_leaders__pairs
SELECT
  leader_site_id,
  follower_site_id,
  COUNT(*) AS follows,
  COUNT(DISTINCT product_id) AS products,
  COUNT(DISTINCT (product_id, led_us)) AS followed_moves,
  MEDIAN(moved_us - led_us) / 3600000000 AS median_lag_hours
FROM price_leaders__follows AS follows
GROUP BY ALL
HAVING
  COUNT(*) >= COALESCE(CAST(:min_follows AS BIGINT), 5);
-- step: price_leaders__chances
SELECT
  moves.site_id AS leader_site_id,
  sellers.site_id AS follower_site_id,
  COUNT(*) AS leader_moves
FROM price_leaders__moves AS moves
JOIN price_leaders__sellers AS sellers
  ON sellers.product_id = moves.product_id AND sellers.site_id <> moves.site_id
WHERE
  :site_id IS NULL OR CAST(:site_id AS BIGINT) IN (moves.site_id, sellers.site_id)
GROUP BY ALL;
-- step: price_leaders
SELECT
  pairs.leader_site_id,
  leaders.name AS leader,
  pairs.follower_site_id,
  followers.name AS follower,
  pairs.products,
  chances.leader_moves,
  pairs.follows,
  100 * pairs.followed_moves / chances.leader_moves AS follow_pct,
  chance_follows,
  (
    pairs.follows - chance_follows
  ) / NULLIF(SQRT(chance_variance), 0) AS chance_z,
  pairs.median_lag_hours,
  COALESCE(backward.follows, 0) AS follows_back,
  100 * pairs.follows / (
    pairs.follows + COALESCE(backward.follows, 0)
  ) AS lead_pct,
  FILTER(ARRAY(leaders.attribution, followers.attribution), text -> NOT text IS NULL) AS attribution
FROM price_leaders__pairs AS pairs
JOIN price_leaders__chances AS chances
  USING (leader_site_id, follower_site_id)
LEFT JOIN (
  SELECT
    leader_site_id AS follower_site_id,
    follower_site_id AS leader_site_id,
    COUNT(*) AS follows
  FROM price_leaders__follows AS follows
  GROUP BY ALL
) AS backward
  USING (leader_site_id, follower_site_id)
LEFT JOIN price_leaders__by_chance AS by_chance
  USING (leader_site_id, follower_site_id)
LEFT JOIN sites AS leaders
  ON leaders.site_id = pairs.leader_site_id AND leaders.is_current
LEFT JOIN sites AS followers
  ON followers.site_id = pairs.follower_site_id AND followers.is_current
ORDER BY
  pairs.follows DESC,
  pairs.leader_site_id NULLS LAST,
  pairs.follower_site_id NULLS LAST
LIMIT CAST(COALESCE(CAST(:top AS BIGINT), 50) AS INT);
