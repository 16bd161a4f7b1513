/** True if DuckDB refuses a statement or a value of the address, and says why. */
export const isRefusedByDuckDb = (error: unknown): error is Error =>
  error instanceof Error &&
  /^(Conversion|Binder|Catalog|Parser|Permission|Invalid Input|Out of Range|Out of Memory) Error: /u.test(
    error.message,
  );
