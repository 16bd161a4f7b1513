/** What a look at one thing says. */
export interface Finding {
  name: string;
  state: 'ok' | 'warn' | 'failed';
  found: string;
  /** What to do; for findings that are not ok. */
  next?: string | undefined;
}
