-- Computes new rows of items. A current whole read becomes the item's row. To other rows, the changes are applied in
-- order; a change that was already applied has no effect. If an unknown item can't be read, it may be hidden from the
-- key, so only history has it.
-- needs: base_items, different_items, missing_items, pending_changes, renamed_datasets, renamed_sites, taken_reads
-- values: feed_skew INTERVAL, feed_skew_is_known BOOLEAN, run_id VARCHAR, watermark BIGINT
WITH former AS (
  SELECT map(list(former), list(name)) AS names FROM renamed_datasets HAVING count(*) > 0
),
touched AS (
  SELECT item_id FROM pending_changes
  UNION
  SELECT item_id FROM different_items
  UNION
  SELECT item_id FROM base_items SEMI JOIN renamed_sites USING (site_id)
  UNION
  SELECT item_id FROM base_items, former WHERE list_has_any(datasets, map_keys(names))
),
base AS (
  SELECT *, false AS is_current, false AS is_reread
  FROM base_items SEMI JOIN touched USING (item_id) ANTI JOIN taken_reads USING (item_id)
  UNION ALL BY NAME
  SELECT *, true AS is_reread FROM taken_reads
),
eligible AS (
  SELECT c.*
  FROM pending_changes AS c
  JOIN base AS b USING (item_id)
  WHERE NOT b.is_current
    AND (b.is_reread OR b.change_id IS NULL OR c.change_id > b.change_id)
    AND (b.last_changed_at IS NULL OR c.observed_at >= b.last_changed_at)
    -- A row that was read after the change includes it, unless the row itself is older. Any row of an item includes its
    -- NEW.
    AND NOT coalesce(
      c.change_id <= getvariable('watermark') AND (c.kind = 'NEW' OR c.observed_at = b.last_changed_at)
      AND b.run_id = CAST(getvariable('run_id') AS VARCHAR), false)
),
told AS (
  SELECT
    item_id,
    max(change_id) AS change_id,
    -- According to the API document, only CHANGED updates lastChangedAt.
    max(observed_at) FILTER (WHERE kind IN ('NEW', 'CHANGED')) AS changed_at,
    -- The feed may date a change later than its row. Without the skew, a removal in between would seem older than the
    -- row.
    max(observed_at) FILTER (WHERE kind IN ('NEW', 'CHANGED', 'RELISTED'))
      - CASE WHEN getvariable('feed_skew_is_known') THEN known_skew(getvariable('feed_skew')) ELSE INTERVAL 0 SECOND END AS seen_at,
    arg_max({'title': json_extract_string(changes, '$.title[1]')}, change_id) FILTER (WHERE is_title_change(title, changes)) AS title,
    arg_max({'price': price, 'previous_price': previous_price, 'observed_at': observed_at}, change_id)
      FILTER (WHERE is_price_change(previous_price, price, changes)) AS price_change,
    arg_max(price, change_id) FILTER (WHERE kind IN ('NEW', 'RELISTED')) AS listing_price,
    arg_max({'kind': kind, 'observed_at': observed_at}, change_id)
      FILTER (WHERE kind IN ('NEW', 'REMOVED', 'RELISTED')) AS listing,
    max(observed_at) FILTER (WHERE kind IN ('NEW', 'RELISTED')) AS listed_at
  FROM eligible
  GROUP BY item_id
),
merged AS (
  -- Values that aren't listed here keep the value of the last full read.
  SELECT b.* EXCLUDE (is_current, is_reread, is_listed) REPLACE (
    CASE WHEN t.title IS NULL THEN b.title ELSE t.title.title END AS title,
    CASE WHEN t.price_change IS NOT NULL THEN t.price_change.price ELSE coalesce(t.listing_price, b.price) END AS price,
    CASE WHEN t.price_change IS NOT NULL THEN t.price_change.previous_price ELSE b.previous_price END AS previous_price,
    CASE WHEN t.price_change IS NOT NULL THEN t.price_change.observed_at ELSE b.price_changed_at END AS price_changed_at,
    coalesce(s.name, b.site_name) AS site_name,
    coalesce(s.host, b.site_host) AS site_host,
    CASE WHEN d.names IS NULL THEN b.datasets
      ELSE list_transform(b.datasets, lambda one: coalesce(d.names[one], one)) END AS datasets,
    greatest(b.last_seen_at, t.seen_at) AS last_seen_at,
    greatest(b.last_changed_at, t.changed_at) AS last_changed_at,
    CASE
      WHEN t.listing IS NULL THEN b.removed_at
      WHEN t.listing.kind <> 'REMOVED' THEN CASE WHEN b.removed_at > t.listing.observed_at THEN b.removed_at END
      WHEN shows_removal(b.last_changed_at, b.last_seen_at, b.removed_at, t.listing.observed_at, t.listed_at, getvariable('feed_skew')) THEN b.removed_at
      ELSE t.listing.observed_at
    END AS removed_at,
    -- A change of an item proves that the key can read the item.
    CASE WHEN t.item_id IS NULL THEN coalesce(b.gone_at, CASE WHEN NOT b.is_reread THEN m.gone_at END) END AS gone_at,
    greatest(t.change_id, b.change_id) AS change_id,
    CAST(getvariable('run_id') AS VARCHAR) AS run_id
  )
  FROM base AS b
  LEFT JOIN told AS t USING (item_id)
  LEFT JOIN renamed_sites AS s ON s.site_id = b.site_id
  -- Rows that this run read already use the new names.
  LEFT JOIN former AS d
    ON b.run_id <> CAST(getvariable('run_id') AS VARCHAR) AND list_has_any(b.datasets, map_keys(d.names))
  LEFT JOIN missing_items AS m ON m.item_id = b.item_id
  WHERE t.item_id IS NOT NULL OR b.is_reread OR b.item_id IN (SELECT item_id FROM different_items) OR d.names IS NOT NULL
    OR (s.site_id IS NOT NULL AND (b.site_name, b.site_host) IS DISTINCT FROM (s.name, s.host))
)
SELECT *, removed_at IS NULL AND gone_at IS NULL AS is_listed FROM merged
