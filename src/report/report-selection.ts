export interface ReportSelection {
  /** ISO 4217 code; all currencies without it. */
  currency: string | undefined;
  /** Widest spreads among products in so many shops or more; without it four, or as many as there are. */
  minShops: number | undefined;
  /** Rows of the table of the widest spreads. */
  top: number;
  /** Products whose price history is shown; without any, some of the widest spreads. */
  products: readonly string[];
}
