-- Makes a first copy as a hand-written script would: casts the downloaded export and writes a folder for each website.
COPY (FROM typed_items('$source'))
TO '$target' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (site_id), WRITE_PARTITION_COLUMNS true);
