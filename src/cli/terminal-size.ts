/** A terminal; `columns` and `rows` change when its window does. */
export type Screen = NodeJS.WritableStream & { columns?: number; rows?: number };

/** Cells of a terminal; as usual where it does not know: some report 0, as serial lines and some containers do. */
export function measureScreen({ columns, rows }: Pick<Screen, 'columns' | 'rows'>): { columns: number; rows: number } {
  const orUsual = (cells: number | undefined, usual: number) => (cells !== undefined && cells > 0 ? cells : usual);
  return { columns: orUsual(columns, 80), rows: orUsual(rows, 24) };
}
