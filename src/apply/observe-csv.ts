import { parseCsvRecord, readCsvRecords } from '../formats/csv.js';
import { isParent, type Mapping } from './item-names.js';
import { type ObservedFields, observeRow } from './shape.js';

/** Records that are looked at in any case. */
const SAMPLE_RECORDS = 200;

/**
 * Adds to `observed` the columns of a landed CSV file, and whether those that may hold an object do: its first records
 * are looked at (and shown to `onRow`), and further ones until every such column has shown a value. Returns the names of
 * the columns.
 */
export async function observeCsv(
  path: string,
  observed: ObservedFields,
  mapping: Mapping = {},
  onRow: (row: unknown) => void = () => {},
): Promise<string[]> {
  let columns: string[] | undefined;
  let holders = new Set<string>();
  let open = new Set<string>();
  let records = 0;
  for await (const { bytes } of readCsvRecords(path)) {
    const cells = parseCsvRecord(bytes.toString('utf8'));
    if (columns === undefined) {
      columns = nameColumns(cells ?? []);
      observeRow(observed, Object.fromEntries(columns.map((name) => [name, null])), mapping);
      open = new Set(columns.filter((name) => isParent(name, mapping)));
      holders = new Set(open);
      continue;
    }
    if (cells?.length === columns.length) {
      const row = readRow(columns, cells, holders);
      observeRow(observed, row, mapping);
      onRow(row);
      for (const [index, name] of columns.entries()) if (cells[index] !== null) open.delete(name);
    }
    if (++records >= SAMPLE_RECORDS && open.size === 0) break;
  }
  return columns ?? [];
}

/** Every column has a name of its own, by SQL's rules for names; one without a name is named by its position. */
function nameColumns(header: readonly (string | null)[]): string[] {
  const taken = new Set<string>();
  return header.map((cell, index) => {
    const own = cell === null || cell === '' ? `column_${index + 1}` : cell.replaceAll('\0', '');
    let name = own;
    for (let n = 2; taken.has(name.toLowerCase()); n++) name = `${own}_${n}`;
    taken.add(name.toLowerCase());
    return name;
  });
}

/** `holders`: columns whose cells may be the text of an object. */
function readRow(columns: readonly string[], cells: readonly (string | null)[], holders: ReadonlySet<string>) {
  return Object.fromEntries(
    columns.map((name, index): [string, unknown] => {
      const cell = cells[index] ?? null;
      return [name, cell !== null && holders.has(name) ? (readObject(cell) ?? cell) : cell];
    }),
  );
}

/** The object that a cell is the JSON text of, or undefined. */
function readObject(cell: string): object | undefined {
  if (!cell.startsWith('{')) return undefined;
  try {
    return JSON.parse(cell) as object;
  } catch {
    return undefined;
  }
}
