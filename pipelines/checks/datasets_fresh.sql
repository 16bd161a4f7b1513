-- name: datasets_fresh
-- severity: warn
-- description: Every dataset was read from a shop not long before the copy was made.
-- found: [dataset was|datasets were] last read long before the copy was made
-- next: Prices of the dataset are old, whatever the copy does; ask the service when its sources are read again.
-- parameter: hours DOUBLE default 48: longest time since a source of a dataset was last read
SELECT dataset_id, name, newest_scrape_at, (epoch_us(read_at) - epoch_us(newest_scrape_at)) / 3600000000 AS hours
FROM datasets
WHERE models > 0 AND (newest_scrape_at IS NULL OR epoch_us(read_at) - epoch_us(newest_scrape_at) > $hours * 3600000000)
