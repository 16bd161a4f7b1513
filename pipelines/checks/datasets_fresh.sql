-- name: datasets_fresh
-- severity: warn
-- description: Every dataset had been scraped recently when the copy was made.
-- found: [dataset had|datasets had] no recent scrape when the copy was made
-- next: The dataset's prices are old, and syncing can't change that; ask the service when it will read the sources again.
-- parameter: hours DOUBLE default 48: maximum hours since the dataset's most recent scrape
SELECT dataset_id, name, newest_scrape_at, (epoch_us(read_at) - epoch_us(newest_scrape_at)) / 3600000000 AS hours
FROM datasets
WHERE models > 0 AND (newest_scrape_at IS NULL OR epoch_us(read_at) - epoch_us(newest_scrape_at) > $hours * 3600000000)
