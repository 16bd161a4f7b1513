/** True if the error is DuckDB's refusal of a statement or of a value in the address, which explains why. */
export const isRefusedByDuckDb = (error: unknown): error is Error =>
  error instanceof Error &&
  /^(Conversion|Binder|Catalog|Parser|Permission|Invalid Input|Out of Range|Out of Memory) Error: /u.test(
    error.message,
  );
