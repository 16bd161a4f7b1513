/** How prices look and move. A `style` from 0 to 9 is a shop's own way to write prices. */
export const CREATE_PRICE_MACROS = `
-- 0.89, 12.99, 1999, 1 990 Ft: the nearest price that a shop would write.
CREATE MACRO price_point(amount, currency, style) AS CASE
  WHEN currency = 'HUF' THEN greatest(round(amount / 10) * 10 - CASE WHEN style < 5 THEN 1 ELSE 0 END, 9)
  WHEN currency = 'CZK' AND amount >= 100 AND style < 6 THEN round(amount / 10) * 10 - 1
  WHEN currency = 'CZK' THEN greatest(round(amount), 1)
  WHEN currency IN ('SEK', 'DKK') AND amount >= 20 AND style < 8 THEN round(amount)
  WHEN amount < 10 AND style < 5 THEN floor(amount * 10) / 10 + 0.09
  WHEN amount < 10 THEN greatest(round(amount, 2), 0.05)
  WHEN amount >= 2000 AND style < 4 THEN round(amount / 10) * 10 - 1
  WHEN style < 6 THEN floor(amount) + 0.99
  WHEN style < 7 THEN floor(amount) + 0.95
  WHEN style < 8 THEN floor(amount)
  ELSE round(amount, 2) END;
-- A wrong entry: the decimal point is read one or two places off.
CREATE MACRO wrong_factor(h) AS CASE h % 900 WHEN 1 THEN 10 WHEN 2 THEN 100 WHEN 3 THEN 0.1 WHEN 4 THEN 0.01 ELSE 1 END;
-- Shops follow each other: in a round, all offers of every fourth product move together.
CREATE MACRO in_wave(product_key, salt) AS product_key IS NOT NULL AND draw(product_key, salt, 73) % 4 = 0;
-- A price that has to change, but whose price point stays the same.
CREATE MACRO nudged(price) AS price + CASE WHEN price < 1 THEN 0.01 WHEN price < 20 THEN -0.1 WHEN price < 1000 THEN -1 ELSE -10 END;
`;

/**
 * Why a price of \`moves\` changes, then to what (\`priced\`): parts of CREATE_STEP.
 * A discount or a wrong entry keeps the usual price in mind; the next change returns to it, exactly.
 */
export const PRICE_MOVES = `
reasons AS (
  SELECT *, coalesce(usual_price, price) AS usual,
    CASE WHEN NOT price_moves THEN NULL WHEN price IS NULL THEN 'first' WHEN kind = 1 AND h >= 99 THEN 'gone'
      WHEN price > 10000000 THEN 'halved'
      WHEN follows AND wave % 10 < 7 THEN 'cost' WHEN follows THEN 'war'
      WHEN usual_price < price OR usual_price > price * 5 OR (usual_price IS NOT NULL AND hp % 100 < 85) THEN 'return'
      WHEN usual_price IS NOT NULL THEN 'deeper'
      WHEN wrong_factor(hp) <> 1 AND price < 1000000 THEN 'wrong'
      WHEN hp % 100 < 45 THEN 'discount' ELSE 'step' END AS reason,
    min(coalesce(usual_price, price)) FILTER (follows) OVER (PARTITION BY product_key, currency) AS lowest
  FROM moves
), amounts AS (
  SELECT *, CASE reason WHEN 'first' THEN 4.99 + hp % 200 WHEN 'halved' THEN price * 0.5
    -- What the supplier asks of all of them.
    WHEN 'cost' THEN usual * (0.88 + (wave >> 8) % 29 / 100.0)
    -- All go to or just below the cheapest of them; one that sells something else by this code does not.
    WHEN 'war' THEN greatest(usual * 0.7, least(usual * 1.02, lowest * (0.94 + (wave >> 8) % 6 / 100.0)))
    WHEN 'deeper' THEN price * 0.9 WHEN 'wrong' THEN price * wrong_factor(hp)
    WHEN 'discount' THEN price * (1 - ([5, 10, 10, 15, 20, 20, 25, 30, 40, 50, 70])[1 + ((hp >> 16) % 11)::INTEGER] / 100.0)
    ELSE price * (0.9 + (hp >> 16) % 23 / 100.0) END AS amount
  FROM reasons
), points AS (
  SELECT *, CASE reason WHEN 'return' THEN usual_price WHEN 'gone' THEN NULL WHEN 'wrong' THEN amount::DECIMAL(18,4)
    ELSE price_point(amount, currency, (site_id % 10 * 7 + hp % 2) % 10)::DECIMAL(18,4) END AS point
  FROM amounts
), priced AS (
  SELECT *, CASE WHEN reason IS NULL THEN price WHEN point = price THEN nudged(price)::DECIMAL(18,4) ELSE point END AS new_price,
    CASE WHEN reason IS NULL OR reason = 'deeper' THEN usual_price WHEN reason IN ('discount', 'wrong') THEN price END AS new_usual
  FROM points
)`;
