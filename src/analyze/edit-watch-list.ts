/** A line of a price list. Amounts are strings such as `12.99`, or empty if they aren't set. */
export interface ListedPrice {
  product: string;
  price: string;
  currency: string;
  lowest: string;
  highest: string;
}

const BYTE_ORDER_MARK = '\ufeff';

/**
 * Replaces line `line` of a price list (CSV, as loadWatchList reads it), or appends a line if `line` is undefined. The
 * header is line 1, and empty lines don't count. Leaves the other lines unchanged, but adds an empty field to them for
 * each added column. Returns the new text, the replaced line and the new line.
 */
export function editWatchList(
  text: string,
  given: ListedPrice,
  line: number | undefined,
): { text: string; before: string | undefined; after: string } {
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  const end = text.includes('\r\n') ? '\r\n' : '\n';
  const records = splitRecords(text.slice(mark.length), end);
  const [header = ''] = records;
  const delimiter = [',', ';', '\t'].find((one) => header.includes(one)) ?? ',';
  const names = splitFields(header, delimiter).map((field) => unquote(field).trim().toLowerCase());
  const lacking = (['currency', 'lowest', 'highest'] as const).filter(
    (name) => given[name] !== '' && !names.includes(name),
  );
  const all = [...names, ...lacking];
  const isRecord = (record: string) => record.trim() !== '';
  const full = records.map((record, k) =>
    isRecord(record) ? [record, ...lacking.map((name) => (k === 0 ? name : ''))].join(delimiter) : record,
  );
  const places = full.flatMap((record, k) => (isRecord(record) ? [k] : []));
  const place = line === undefined ? undefined : places[line - 1];
  const fields = place === undefined ? all.map(() => '') : splitFields(full[place] ?? '', delimiter);
  const sign = usesComma(full.slice(1), all, delimiter) ? ',' : '.';
  const written: Record<string, string> = {
    ...given,
    ...Object.fromEntries(
      (['price', 'lowest', 'highest'] as const).map((name) => [name, given[name].replace('.', sign)]),
    ),
  };
  // In an existing line, leaves the product as the user wrote it.
  const kept = place === undefined ? [] : ['product'];
  const after = all
    .map((name, k) =>
      name in written && !kept.includes(name) ? quote(written[name] ?? '', delimiter) : (fields[k] ?? ''),
    )
    .join(delimiter);
  const before = place === undefined ? undefined : records[place];
  const next = place === undefined ? [...full.slice(0, (places.at(-1) ?? 0) + 1), after] : full.with(place, after);
  return { text: `${mark}${next.join(end)}${next.at(-1) === '' ? '' : end}`, before, after };
}

/** Splits a text at line ends that aren't inside quotes. */
function splitRecords(text: string, end: string): string[] {
  return splitOutside(text, end);
}

const splitFields = (record: string, delimiter: string): string[] => splitOutside(record, delimiter);

function splitOutside(text: string, separator: string): string[] {
  const parts: string[] = [];
  let [from, isQuoted] = [0, false];
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') isQuoted = !isQuoted;
    if (isQuoted || !text.startsWith(separator, at)) continue;
    parts.push(text.slice(from, at));
    at += separator.length - 1;
    from = at + 1;
  }
  return [...parts, text.slice(from)];
}

const unquote = (field: string) => field.replace(/^\s*"([\s\S]*)"\s*$/u, '$1').replaceAll('""', '"');

const quote = (field: string, delimiter: string) =>
  field.includes(delimiter) || /["\r\n]/u.test(field) ? `"${field.replaceAll('"', '""')}"` : field;

/** True if a price in the file uses a decimal comma. */
function usesComma(records: readonly string[], names: readonly string[], delimiter: string): boolean {
  const places = ['price', 'lowest', 'highest'].map((name) => names.indexOf(name)).filter((place) => place >= 0);
  return records.some((record) => {
    const fields = splitFields(record, delimiter);
    return places.some((place) => /\d,\d{1,2}$/u.test(unquote(fields[place] ?? '').trim()));
  });
}
