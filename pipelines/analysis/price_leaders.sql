-- Which shops change their prices first: for each pair of shops that sell the same products, how often the follower
-- changed a price within some hours after the leader had changed its own price in the same direction, and how long that
-- took. follow_pct: the share of the leader's moves on shared products that were followed; lead_pct: 100 if
-- only the leader ever came first, 50 if they take turns. Moves at the same instant don't count. Moves by a factor of
-- about 10, 100 or 1,000 (from 6.3 to 15.8, and so on) are treated as mistakes or corrections, and left out.
-- chance_follows: expected number of follows if the follower changed prices at random times; chance_z: difference
-- between follows and this number, in standard deviations.
-- Source: a definition of this project.
-- Limits: shops that reprice at the same hours of the same days appear to follow each other. By chance alone, about one
-- pair in twenty has a chance_z beyond 2.
-- Variables:
-- · hours (whole number from 1; default 72): time in which a shop must follow
-- · currency (currency): only prices in this currency
-- · min_follows (whole number; default 5): only pairs with this many follows or more
-- · site_id (site): only pairs with this shop
-- · top (whole number; default 50): number of rows
WITH sellers AS (
  SELECT DISTINCT product_id, site_id FROM (FROM 'product_listings.sql')
),
-- Replaces texts with numbers, for products that several shops sell.
numbered AS MATERIALIZED (
  SELECT product_id, row_number() OVER (ORDER BY product_id) AS product
  FROM (SELECT product_id FROM sellers GROUP BY product_id HAVING count(*) > 1)
),
moved AS MATERIALIZED (
  SELECT product, site_id, coalesce(currency, listing_currency) AS currency, price > previous_price AS is_up, epoch_us(observed_at) AS moved_us
  FROM (
    SELECT *, log10(price::DOUBLE / previous_price::DOUBLE) AS tens
    FROM (
      SELECT product_id, site_id, currency, listing_currency, observed_at, price, previous_price
      FROM (FROM 'product_history.sql')
      WHERE price <> previous_price AND price > 0 AND previous_price > 0 AND kind <> 'REMOVED'
    )
  )
  LEFT JOIN numbered USING (product_id)
  WHERE NOT (abs(tens - round(tens)) <= 0.2 AND abs(round(tens)) BETWEEN 1 AND 3)
    AND (getvariable('currency') IS NULL OR coalesce(currency, listing_currency) = getvariable('currency'))
    AND (
      getvariable('site_id') IS NULL
      OR product_id IN (SELECT product_id FROM sellers WHERE site_id = getvariable('site_id')::BIGINT)
    )
    AND (
      getvariable('category') IS NULL
      OR product_id IN (SELECT product_id FROM products WHERE category_slug IN (FROM 'category_tree.sql'))
    )
),
bounds AS (
  SELECT min(moved_us) AS first_us, max(moved_us) AS last_us, coalesce(getvariable('hours')::BIGINT, 72) * 3600000000 AS hours_us
  FROM moved
),
-- Moves of a product in the same currency and direction may follow one another. An unknown currency has the number 0.
-- If a shop moves several times at the same time, only the last move counts.
moves AS MATERIALIZED (
  SELECT *
  FROM (
    SELECT way, site_id, moved_us, lead(moved_us) OVER (PARTITION BY way, site_id ORDER BY moved_us) AS next_us
    FROM (
      SELECT (product::BIGINT * 1000000 + coalesce(currency_number, 0)) * 2 + is_up::INTEGER AS way, site_id, moved_us
      FROM moved
      LEFT JOIN (
        SELECT currency, row_number() OVER (ORDER BY currency) AS currency_number FROM (SELECT DISTINCT currency FROM moved)
      ) AS currencies USING (currency)
      WHERE product IS NOT NULL
    )
  )
  WHERE coalesce(next_us > moved_us, true)
),
-- Shops that moved a product up or down, and the share of the known time in which a random move would have followed one
-- of theirs.
leaders AS MATERIALIZED (
  SELECT
    way, site_id, count(*) AS moved,
    sum(least(hours_us, coalesce(next_us, last_us) - moved_us)) / any_value(last_us - first_us) AS share
  FROM moves
  CROSS JOIN bounds
  GROUP BY way, site_id
),
-- Pairs each move of a follower with the leader's last move before it, whose next move isn't before the follower's.
follows AS MATERIALIZED (
  SELECT
    first.site_id AS leader_site_id,
    later.site_id AS follower_site_id,
    later.way // 2000000 AS product,
    later.moved_us,
    first.moved_us AS led_us
  FROM moves AS later
  CROSS JOIN bounds
  JOIN moves AS first
    ON first.way = later.way AND first.site_id <> later.site_id AND first.moved_us < later.moved_us
    AND first.moved_us >= later.moved_us - hours_us AND coalesce(first.next_us >= later.moved_us, true)
  WHERE later.way // 2 % 1000000 > 0
    AND (getvariable('site_id') IS NULL OR getvariable('site_id')::BIGINT IN (first.site_id, later.site_id))
),
by_chance AS (
  SELECT
    leaders.site_id AS leader_site_id,
    followers.site_id AS follower_site_id,
    sum(followers.moved * least(leaders.share, 1)) AS chance_follows,
    sum(followers.moved * least(leaders.share, 1) * (1 - least(leaders.share, 1))) AS chance_variance
  FROM leaders
  JOIN leaders AS followers ON followers.way = leaders.way AND followers.site_id <> leaders.site_id
  WHERE leaders.way // 2 % 1000000 > 0
  GROUP BY leaders.site_id, followers.site_id
),
pairs AS (
  SELECT
    leader_site_id,
    follower_site_id,
    count(*) AS follows,
    count(DISTINCT product) AS products,
    count(DISTINCT (product, led_us)) AS followed_moves,
    median(moved_us - led_us) / 3600000000 AS median_lag_hours
  FROM follows
  GROUP BY ALL
  HAVING count(*) >= coalesce(getvariable('min_follows')::BIGINT, 5)
),
chances AS (
  SELECT led.site_id AS leader_site_id, sold.site_id AS follower_site_id, sum(moved)::BIGINT AS leader_moves
  FROM (SELECT way // 2000000 AS product, site_id, sum(moved) AS moved FROM leaders GROUP BY 1, site_id) AS led
  JOIN (SELECT product, site_id FROM sellers JOIN numbered USING (product_id)) AS sold
    ON sold.product = led.product AND sold.site_id <> led.site_id
  WHERE getvariable('site_id') IS NULL OR getvariable('site_id')::BIGINT IN (led.site_id, sold.site_id)
  GROUP BY ALL
)
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
  (pairs.follows - chance_follows) / nullif(sqrt(chance_variance), 0) AS chance_z,
  pairs.median_lag_hours,
  coalesce(backward.follows, 0) AS follows_back,
  100 * pairs.follows / (pairs.follows + coalesce(backward.follows, 0)) AS lead_pct,
  list_filter([leaders.attribution, followers.attribution], lambda text: text IS NOT NULL) AS attribution
FROM pairs
JOIN chances USING (leader_site_id, follower_site_id)
LEFT JOIN (
  SELECT leader_site_id AS follower_site_id, follower_site_id AS leader_site_id, count(*) AS follows
  FROM follows
  GROUP BY ALL
) AS backward USING (leader_site_id, follower_site_id)
LEFT JOIN by_chance USING (leader_site_id, follower_site_id)
LEFT JOIN sites AS leaders ON leaders.site_id = pairs.leader_site_id AND leaders.is_current
LEFT JOIN sites AS followers ON followers.site_id = pairs.follower_site_id AND followers.is_current
ORDER BY pairs.follows DESC, pairs.leader_site_id, pairs.follower_site_id
LIMIT coalesce(getvariable('top')::BIGINT, 50)
