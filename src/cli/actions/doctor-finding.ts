/** What looking at one thing found. */
export interface Finding {
  name: string;
  state: 'ok' | 'warn' | 'failed';
  found: string;
  /** What to do; for findings that are not ok. */
  next?: string | undefined;
}
