-- A first copy by hand: the downloaded export, cast, into one folder a website.
COPY (FROM typed_items('$source'))
TO '$target' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (site_id), WRITE_PARTITION_COLUMNS true);
