import * as z from 'zod';
import { EXPLAINED_TABLES, explainValue } from '../../../why/explain-value.js';
import { whyResult } from '../../results/why.js';
import { useSnapshot } from '../desk.js';
import { MOST_TEXT } from '../rows.js';
import { about, aboutShape, declareTool } from '../tool.js';

const MOST_WORDS = 50;

export const why = declareTool({
  name: 'why',
  title: 'Explain a value',
  describe:
    'Traces a value to the raw data that the service sent: the change or read that set it, its run, file, line and raw text, and earlier values.',
  input: z.object({
    table: z.enum(EXPLAINED_TABLES),
    key: z.string().max(200).describe('item_id of items and offers, change_id of history, product_id of the others'),
    column: z.string().max(100).optional().describe('Default: all columns, without earlier values'),
  }),
  output: z.object({ ...aboutShape, ...whyResult.shape }),
  run: ({ table, key, column }, call) =>
    useSnapshot(call, async (snapshot) => {
      const { lake, mapping } = call.desk;
      const source = { db: snapshot.version.statements(), lakeRoot: lake.root, mapping, signal: call.signal };
      const found = await explainValue(source, { table, key, column });
      const short = { ...found, others: found.others.slice(0, MOST_WORDS) };
      return { ...about(snapshot), ...(cutTexts(short) as typeof found) };
    }),
});

/** Truncates all strings in an answer, because text from shops may have any length. */
function cutTexts(value: unknown): unknown {
  if (typeof value === 'string') return value.length > MOST_TEXT ? `${value.slice(0, MOST_TEXT)}…` : value;
  if (Array.isArray(value)) return value.map(cutTexts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, cutTexts(member)]));
}
