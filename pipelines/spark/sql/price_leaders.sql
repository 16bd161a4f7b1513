-- Made by generate.py from pipelines/analysis/price_leaders.sql: change that one. Source 5a55d1d4c3d70c06.
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
-- step: price_leaders__numbered, kept
SELECT
  product_id,
  CAST(ROW_NUMBER() OVER (ORDER BY product_id NULLS LAST) AS BIGINT) AS product
FROM (
  SELECT
    product_id
  FROM price_leaders__sellers AS sellers
  GROUP BY
    product_id
  HAVING
    COUNT(*) > 1
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
-- step: price_leaders__moved, kept
SELECT
  product,
  site_id,
  COALESCE(currency, listing_currency) AS currency,
  price > previous_price AS is_up,
  UNIX_MICROS(observed_at) AS moved_us
FROM (
  SELECT
    product_id,
    site_id,
    currency,
    listing_currency,
    observed_at,
    price,
    previous_price,
    LOG10(CAST(price AS DOUBLE) / CAST(previous_price AS DOUBLE)) AS tens
  FROM (
    SELECT
      product_id,
      site_id,
      currency,
      listing_currency,
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
      price <> previous_price AND price > 0 AND previous_price > 0 AND kind <> 'REMOVED'
  )
)
LEFT JOIN price_leaders__numbered AS numbered
  USING (product_id)
WHERE
  NOT (
    ABS(tens - ROUND(tens)) <= 0.2 AND ABS(ROUND(tens)) BETWEEN 1 AND 3
  )
  AND (
    :currency IS NULL OR COALESCE(currency, listing_currency) = :currency
  )
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
  MIN(moved_us) AS first_us,
  MAX(moved_us) AS last_us,
  COALESCE(CAST(:hours AS BIGINT), 72) * 3600000000 AS hours_us
FROM price_leaders__moved AS moved;
-- step: price_leaders__moves, kept
SELECT
  way,
  site_id,
  moved_us,
  next_us
FROM (
  SELECT
    way,
    site_id,
    moved_us,
    LEAD(moved_us) OVER (PARTITION BY way, site_id ORDER BY moved_us NULLS LAST) AS next_us
  FROM (
    SELECT
      (
        CAST(product AS BIGINT) * 1000000 + COALESCE(currency_number, 0)
      ) * 2 + CAST(is_up AS INT) AS way,
      site_id,
      moved_us
    FROM price_leaders__moved AS moved
    LEFT JOIN (
      SELECT
        currency,
        CAST(ROW_NUMBER() OVER (ORDER BY currency NULLS LAST) AS BIGINT) AS currency_number
      FROM (
        SELECT DISTINCT
          currency
        FROM price_leaders__moved AS moved
      )
    ) AS currencies
      USING (currency)
    WHERE
      NOT product IS NULL
  )
)
WHERE
  COALESCE(next_us > moved_us, TRUE);
-- step: price_leaders__leaders, kept
SELECT
  way,
  site_id,
  COUNT(*) AS moved,
  SUM(LEAST(hours_us, COALESCE(next_us, last_us) - moved_us)) / ANY_VALUE(last_us - first_us) IGNORE NULLS AS share
FROM price_leaders__moves AS moves
CROSS JOIN price_leaders__bounds AS bounds
GROUP BY
  way,
  site_id;
-- step: price_leaders__follows, kept
SELECT
  first.site_id AS leader_site_id,
  later.site_id AS follower_site_id,
  later.way DIV 2000000 AS product,
  later.moved_us,
  first.moved_us AS led_us
FROM price_leaders__moves AS later
CROSS JOIN price_leaders__bounds AS bounds
JOIN price_leaders__moves AS first
  ON first.way = later.way
  AND first.site_id <> later.site_id
  AND first.moved_us < later.moved_us
  AND first.moved_us >= later.moved_us - hours_us
  AND COALESCE(first.next_us >= later.moved_us, TRUE)
WHERE
  later.way DIV 2 % 1000000 > 0
  AND (
    :site_id IS NULL OR CAST(:site_id AS BIGINT) IN (first.site_id, later.site_id)
  );
-- step: price_leaders__by_chance
SELECT
  leaders.site_id AS leader_site_id,
  followers.site_id AS follower_site_id,
  SUM(followers.moved * LEAST(leaders.share, 1)) AS chance_follows,
  SUM(followers.moved * LEAST(leaders.share, 1) * (
    1 - LEAST(leaders.share, 1)
  )) AS chance_variance
FROM price_leaders__leaders AS leaders
JOIN price_leaders__leaders AS followers
  ON followers.way = leaders.way AND followers.site_id <> leaders.site_id
WHERE
  leaders.way DIV 2 % 1000000 > 0
GROUP BY
  leaders.site_id,
  followers.site_id;
-- step: price_leaders__pairs
SELECT
  leader_site_id,
  follower_site_id,
  COUNT(*) AS follows,
  COUNT(DISTINCT product) AS products,
  COUNT(DISTINCT (product, led_us)) AS followed_moves,
  MEDIAN(moved_us - led_us) / 3600000000 AS median_lag_hours
FROM price_leaders__follows AS follows
GROUP BY ALL
HAVING
  COUNT(*) >= COALESCE(CAST(:min_follows AS BIGINT), 5);
-- step: price_leaders__chances
SELECT
  led.site_id AS leader_site_id,
  sold.site_id AS follower_site_id,
  CAST(SUM(moved) AS BIGINT) AS leader_moves
FROM (
  SELECT
    way DIV 2000000 AS product,
    site_id,
    SUM(moved) AS moved
  FROM price_leaders__leaders AS leaders
  GROUP BY
    1,
    site_id
) AS led
JOIN (
  SELECT
    product,
    site_id
  FROM price_leaders__sellers AS sellers
  JOIN price_leaders__numbered AS numbered
    USING (product_id)
) AS sold
  ON sold.product = led.product AND sold.site_id <> led.site_id
WHERE
  :site_id IS NULL OR CAST(:site_id AS BIGINT) IN (led.site_id, sold.site_id)
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
LIMIT CAST(LEAST(COALESCE(CAST(:top AS BIGINT), 50), 2147483647) AS INT);
