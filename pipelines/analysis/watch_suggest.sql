-- part of: watch
-- A suggested price for each line of your list, by a rule: the price of the cheapest shop, of the second cheapest, or
-- the median of all shops, minus some percent. Each shop has one price, the lowest of its offers that count
-- (offers.is_counted); among shops with the same price, the lower site_id comes first, so the second cheapest may cost
-- as much as the cheapest. The suggestion is within lowest and highest. Without such a price, it is your own price.
-- reason explains it in words. basis is the price that the rule starts from; basis_shop and basis_item_id say where it
-- comes from (null for the median). From found (watch_list.sql) and offers.
-- Source: a definition of this project.
-- Exact: all prices. The rule's price is rounded once, half away from zero at the second decimal; lowest is rounded up
-- to it, and highest down. If no such price is between the two, lowest goes first. basis of a median has four decimals.
-- Limits: prices are as listed, without shipping. Demand is unknown: a rule doesn't maximize profit. No suggestion is
-- below 0.01. Your own shop is a competitor unless own_site names it.
-- Variables:
-- · suggest_by (cheapest | second | median; required): the price that the rule starts from
-- · suggest_minus (number; required): percent to subtract, with up to two decimals
-- · own_site (site): your own shop, which is left out
WITH priced AS MATERIALIZED (FROM 'watch_priced.sql'),
asked AS (
  SELECT product_id, currency, site_id, min(price) AS shop_price, arg_min(item_id, (price, item_id)) AS item_id
  FROM priced
  WHERE is_counted
  GROUP BY product_id, currency, site_id
),
ranked AS (
  SELECT
    line,
    asked.*,
    row_number() OVER (PARTITION BY line ORDER BY shop_price, site_id) AS place,
    count(*) OVER (PARTITION BY line) AS sellers
  FROM found
  JOIN asked USING (product_id, currency)
),
-- The median is the mean of the prices at two ranks, which are equal if the number of shops is odd.
chosen AS (
  SELECT
    line,
    max(shop_price) FILTER (place = CASE getvariable('suggest_by') WHEN 'cheapest' THEN 1 WHEN 'second' THEN 2 ELSE (sellers + 1) // 2 END) AS low,
    max(shop_price) FILTER (place = CASE getvariable('suggest_by') WHEN 'cheapest' THEN 1 WHEN 'second' THEN 2 ELSE sellers // 2 + 1 END) AS high,
    max(site_id) FILTER (place = CASE getvariable('suggest_by') WHEN 'cheapest' THEN 1 WHEN 'second' THEN 2 END) AS site_id,
    max(item_id) FILTER (place = CASE getvariable('suggest_by') WHEN 'cheapest' THEN 1 WHEN 'second' THEN 2 END) AS item_id,
    max(sellers) AS sellers
  FROM ranked
  GROUP BY line
),
-- Prices as integers, in units of 0.0001.
units AS (
  SELECT
    found.*,
    chosen.site_id,
    chosen.item_id,
    sellers,
    (found.price::DECIMAL(23, 4) * 10000)::HUGEINT AS own_units,
    (low::DECIMAL(23, 4) * 10000)::HUGEINT + (high::DECIMAL(23, 4) * 10000)::HUGEINT AS double_units,
    (10000 - getvariable('suggest_minus')::DECIMAL(5, 2) * 100)::HUGEINT AS share,
    (found.lowest::DECIMAL(23, 4) * 10000)::HUGEINT AS lowest_units,
    (found.highest::DECIMAL(23, 4) * 10000)::HUGEINT AS highest_units
  FROM found
  LEFT JOIN chosen USING (line)
),
cents AS (
  SELECT
    *,
    coalesce((double_units * share + 1000000) // 2000000, (own_units + 50) // 100) AS target,
    (lowest_units + 99) // 100 AS lowest_cents,
    highest_units // 100 AS highest_cents,
    greatest(1, lowest_cents, least(highest_cents, target)) AS suggested_cents,
    ((double_units + 1) // 2)::BIGINT * 0.0001::DECIMAL(18, 4) AS basis
  FROM units
),
worded AS (
  SELECT
    cents.*,
    (suggested_cents::BIGINT * 0.01::DECIMAL(18, 2))::DECIMAL(18, 2) AS suggested,
    coalesce(sites.name, site_id::VARCHAR) AS basis_shop,
    sites.attribution AS credit,
    regexp_replace(basis::VARCHAR, '(\.\d{2}\d*?)0+$', '\1') AS basis_text,
    CASE
      WHEN suggested_cents = target THEN NULL
      WHEN suggested_cents < target AND suggested_cents = highest_cents
        THEN 'kept at the highest allowed ' || regexp_replace(highest::VARCHAR, '(\.\d{2}\d*?)0+$', '\1')
      WHEN suggested_cents = lowest_cents
        THEN 'kept at the lowest allowed ' || regexp_replace(lowest::VARCHAR, '(\.\d{2}\d*?)0+$', '\1')
      ELSE 'kept at 0.01'
    END AS kept,
    CASE
      WHEN double_units IS NOT NULL THEN NULL
      WHEN reason IS NULL THEN 'one shop alone sells it: '
      WHEN contains(reason, ': ') AND NOT contains(reason, ': see left_out') THEN reason || '; '
      ELSE replace(reason, ': see left_out', '') || ': '
    END AS missing
  FROM cents
  LEFT JOIN (SELECT site_id, name, attribution FROM sites WHERE is_current) AS sites USING (site_id)
)
SELECT
  product,
  suggested,
  currency,
  price,
  suggested <> price AS is_changed,
  CASE
    WHEN missing IS NOT NULL THEN missing || coalesce(kept, CASE WHEN suggested = price THEN 'unchanged' ELSE 'rounded to two decimals' END)
    ELSE CASE WHEN kept IS NOT NULL THEN kept || ': ' WHEN share = 10000 THEN 'matches ' ELSE '' END
      || CASE WHEN share < 10000 THEN getvariable('suggest_minus') || ' % below ' ELSE '' END
      || CASE getvariable('suggest_by')
        WHEN 'cheapest' THEN basis_shop || ' ' || basis_text
        WHEN 'second' THEN 'the second cheapest, ' || basis_shop || ' ' || basis_text
        ELSE 'the median ' || basis_text || ' of ' || sellers || CASE WHEN sellers = 1 THEN ' shop' ELSE ' shops' END
      END
  END AS reason,
  lowest,
  highest,
  coalesce(sellers, 0) AS shops,
  basis,
  basis_shop,
  item_id AS basis_item_id,
  line,
  product_id,
  title,
  CASE WHEN getvariable('suggest_by') = 'median' THEN attribution ELSE list_filter([credit], lambda text: text IS NOT NULL) END AS attribution
FROM worded
ORDER BY line
