import type { Assertion, ExplainedValue, Explanation } from '../../why/explain-value.js';
import { explainValue } from '../../why/explain-value.js';
import type { Arguments, CommandContext } from '../command.js';
import type { why } from '../commands/read.js';
import { findTarget } from '../find-target.js';
import { hangText } from '../output/display-width.js';
import { toPlainLine } from '../plain-text.js';
import { readLake } from '../read-lake.js';

const MOST_RAW = 500;
const MOST_OTHERS = 20;

/** Explains where a value in the lake came from. @throws PricelakeError `usage` if there is no such row or column */
export async function explainWhy({ table, key, column, lake }: Arguments<typeof why>, context: CommandContext) {
  const { json, output, signal } = context;
  const { lake: path, settings } = await findTarget({ lake });
  const mapping = settings?.source.mapping ?? {};
  const found = await readLake({ path, signal }, ({ db, lake: { root } }) =>
    explainValue({ db, lakeRoot: root, mapping, signal }, { table, key, column }),
  );
  if (!json) await output.write(formatExplanation(found, output.columns));
  return { ...found };
}

function formatExplanation(
  { table, key, rows, others, from, damaged }: Explanation,
  width: number | undefined,
): string {
  const line = (label: string, text: string) => hangText(`  ${label.padEnd(8)} `, toPlainLine(text), width);
  const values = rows
    .flat()
    .flatMap((value) => [
      toPlainLine(`${table} ${key} ${value.column} = ${value.value ?? 'NULL'}`),
      ...describeValue(value).map(([label, text]) => line(label, text)),
    ]);
  const earlier = others
    .slice(0, MOST_OTHERS)
    .map((one, at) =>
      line(at === 0 ? 'also' : '', `${one.value ?? 'NULL'}: ${describeWord(one)}${describePlace(one)}`),
    );
  const offers = from.flatMap(({ itemId, price, currency, isCounted, behind }, at) => {
    const offer = `item ${itemId}, ${price ?? 'no price'} ${currency ?? ''}${isCounted ? '' : ', not used'}`;
    const steps = behind === undefined ? [] : describeBehind(behind);
    return [line(at === 0 ? 'from' : '', offer), ...steps.map((text) => line('', `  ${text}`))];
  });
  const broken = damaged.map((text) => line('damaged', text));
  return `${[...values, ...earlier, ...offers, ...broken].join('\n')}\n`;
}

function describeValue({ how, by, note }: ExplainedValue): [string, string][] {
  const set: [string, string][] = by === undefined ? [] : [['set by', `${describeWord(by)}${describePlace(by)}`]];
  const raw: [string, string][] = by?.raw === undefined ? [] : [['raw', cut(by.raw)]];
  const why: [string, string][] = note === undefined ? [] : [[how === 'computed' ? 'set by' : 'note', note]];
  return [...set, ...raw, ...why];
}

function describeBehind(value: ExplainedValue): string[] {
  const [by, ...facts] = describeValue(value).map(([, text]) => text);
  return by === undefined ? [] : [`${value.column}: ${by}`, ...facts];
}

const cut = (raw: string) => (raw.length > MOST_RAW ? `${raw.slice(0, MOST_RAW)}… (${raw.length} characters)` : raw);

function describeWord({ change, observedAt, readAt, runId }: Assertion): string {
  if (change === undefined) return `a read of the item at ${readAt ?? 'an unknown time'}, run ${runId}`;
  const { id, kind, origin } = change;
  const name = id === null ? 'a change' : `change ${id}`;
  return `${name} (${kind}, ${origin}) of ${observedAt ?? 'an unknown time'}, run ${runId}`;
}

const describePlace = ({ place }: Assertion) => (place === undefined ? '' : `, ${place.file} line ${place.line}`);
