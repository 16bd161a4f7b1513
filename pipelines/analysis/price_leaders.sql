-- Which shops move their prices first: for two shops that sell the same products, how often the follower moved a price
-- within some hours after the leader had moved its own price in the same direction, and how long that took. follow_pct:
-- the share of the leader's moves on shared products that were followed; lead_pct: who leads, 100 if only the leader
-- ever came first, 50 if they take turns. Moves at the same instant don't count. Moves by a factor of about 10, 100 or
-- 1,000 (from 6.3 to 15.8, and so on) are mistakes or their corrections, and are left out. chance_follows: how many follows
-- there would be if the follower moved at random times; chance_z: how far follows are from that, in standard deviations.
-- Source: a definition of this project; test/analyze/inference.test.ts compares chance_z with moves that are random.
-- Limits: shops that reprice at the same hours of the same days follow each other without knowing of it. Of many pairs, one
-- in twenty is beyond 2 by chance alone.
-- Variables:
-- · hours (whole number from 1; default 72): how long a shop has to follow
-- · currency (currency): only prices in this currency
-- · min_follows (whole number; default 5): only pairs with this many follows or more
-- · site_id (site): only pairs with this shop
-- · top (whole number; default 50): number of rows
WITH sellers AS (
  SELECT DISTINCT product_id, site_id FROM (FROM 'product_listings.sql')
),
moved AS (
  SELECT *, log10(price::DOUBLE / previous_price::DOUBLE) AS tens
  FROM (
    SELECT product_id, site_id, coalesce(currency, listing_currency) AS currency, kind, observed_at, price, previous_price
    FROM (FROM 'product_history.sql')
    WHERE price <> previous_price AND price > 0 AND previous_price > 0
      AND (
        getvariable('site_id') IS NULL
        OR product_id IN (SELECT product_id FROM sellers WHERE site_id = getvariable('site_id')::BIGINT)
      )
  )
),
moves AS (
  SELECT DISTINCT
    product_id,
    currency,
    site_id,
    observed_at AS moved_at,
    price > previous_price AS is_up
  FROM moved
  WHERE kind <> 'REMOVED'
    AND NOT (abs(tens - round(tens)) <= 0.2 AND abs(round(tens)) BETWEEN 1 AND 3)
    AND (getvariable('currency') IS NULL OR currency = getvariable('currency'))
    AND (
      getvariable('category') IS NULL
      OR product_id IN (SELECT product_id FROM products WHERE category_slug IN (FROM 'category_tree.sql'))
    )
),
bounds AS (
  SELECT min(epoch_us(moved_at)) AS first_us, max(epoch_us(moved_at)) AS last_us, coalesce(getvariable('hours')::BIGINT, 72) * 3600000000 AS hours_us
  FROM moves
),
-- Shops that moved a product up or down, and the share of the known time in which a move at any instant would have followed
-- theirs.
leaders AS (
  SELECT product_id, currency, is_up, site_id, sum(least(hours_us, next_us - moved_us)) / any_value(last_us - first_us) AS share
  FROM (
    SELECT
      product_id, currency, is_up, site_id,
      epoch_us(moved_at) AS moved_us,
      lead(epoch_us(moved_at), 1, last_us) OVER (PARTITION BY product_id, currency, is_up, site_id ORDER BY moved_at) AS next_us,
      hours_us, first_us, last_us
    FROM moves
    CROSS JOIN bounds
  )
  GROUP BY product_id, currency, is_up, site_id
),
-- Each move of a follower with the last move of a leader before it: for few hours, pairs of moves so near are few; for
-- many, every move looks back to the last one of each leader.
near_follows AS (
  SELECT
    later.product_id, later.currency, later.is_up,
    first.site_id AS leader_site_id,
    later.site_id AS follower_site_id,
    epoch_us(later.moved_at) AS moved_us,
    max(epoch_us(first.moved_at)) AS led_us
  FROM moves AS later
  JOIN moves AS first
    ON first.product_id = later.product_id AND first.currency = later.currency AND first.is_up = later.is_up
    AND first.site_id <> later.site_id
    AND first.moved_at < later.moved_at
    AND first.moved_at >= later.moved_at - to_hours(coalesce(getvariable('hours'), 72)::INTEGER)
  WHERE coalesce(getvariable('hours')::BIGINT, 72) <= 336
    AND (getvariable('site_id') IS NULL OR getvariable('site_id')::BIGINT IN (first.site_id, later.site_id))
  GROUP BY ALL
),
far_follows AS (
  SELECT
    moves.product_id, moves.currency, moves.is_up,
    leaders.site_id AS leader_site_id,
    moves.site_id AS follower_site_id,
    epoch_us(moved_at) AS moved_us,
    max(CASE WHEN moves.site_id = leaders.site_id THEN epoch_us(moved_at) END) OVER (
      PARTITION BY moves.product_id, moves.currency, moves.is_up, leaders.site_id
      ORDER BY epoch_us(moved_at) RANGE BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS led_us
  FROM moves
  JOIN leaders
    ON leaders.product_id = moves.product_id AND leaders.currency = moves.currency AND leaders.is_up = moves.is_up
  WHERE getvariable('hours')::BIGINT > 336
    AND (getvariable('site_id') IS NULL OR getvariable('site_id')::BIGINT IN (moves.site_id, leaders.site_id))
),
follows AS (
  SELECT leader_site_id, follower_site_id, product_id, moved_us, led_us FROM near_follows
  UNION ALL
  SELECT leader_site_id, follower_site_id, product_id, moved_us, led_us
  FROM far_follows
  CROSS JOIN bounds
  WHERE leader_site_id <> follower_site_id AND moved_us - led_us <= hours_us
),
by_chance AS (
  SELECT
    leaders.site_id AS leader_site_id,
    followers.site_id AS follower_site_id,
    sum(moved * least(share, 1)) AS chance_follows,
    sum(moved * least(share, 1) * (1 - least(share, 1))) AS chance_variance
  FROM leaders
  JOIN (
    SELECT product_id, currency, is_up, site_id, count(*) AS moved FROM moves GROUP BY product_id, currency, is_up, site_id
  ) AS followers
    ON followers.product_id = leaders.product_id AND followers.currency = leaders.currency AND followers.is_up = leaders.is_up
    AND followers.site_id <> leaders.site_id
  GROUP BY leaders.site_id, followers.site_id
),
pairs AS (
  SELECT
    leader_site_id,
    follower_site_id,
    count(*) AS follows,
    count(DISTINCT product_id) AS products,
    count(DISTINCT (product_id, led_us)) AS followed_moves,
    median(moved_us - led_us) / 3600000000 AS median_lag_hours
  FROM follows
  GROUP BY ALL
  HAVING count(*) >= coalesce(getvariable('min_follows')::BIGINT, 5)
),
chances AS (
  SELECT moves.site_id AS leader_site_id, sellers.site_id AS follower_site_id, count(*) AS leader_moves
  FROM moves
  JOIN sellers ON sellers.product_id = moves.product_id AND sellers.site_id <> moves.site_id
  WHERE getvariable('site_id') IS NULL OR getvariable('site_id')::BIGINT IN (moves.site_id, sellers.site_id)
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
