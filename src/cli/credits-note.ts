/** How licence texts travel with results; for the help of the commands that write them. */
export const CREDITS_NOTE = `Licence texts of open-data shops go with every result: under a table; in the metadata of Arrow and Parquet files; for
CSV and JSON, which have no place that every parser skips, in <output>-metadata.json beside the file (W3C's CSV on the
Web), or on stderr when the result goes to stdout.`;
