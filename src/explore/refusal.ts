/**
 * True if DuckDB refused a statement or a value in the address. The error's message then explains why to the reader.
 */
export const isRefusedByDuckDb = (error: unknown): error is Error =>
  error instanceof Error &&
  /^(Conversion|Binder|Catalog|Parser|Permission|Invalid Input|Out of Range|Out of Memory) Error: /u.test(
    error.message,
  );
