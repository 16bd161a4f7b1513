import * as z from 'zod';
import { selectChanges } from '../../../deliver/select-changes.js';
import { bindAnalysis } from '../../../explore/question.js';
import { PricelakeError } from '../../../io/errors.js';
import { TABLE_NAMES } from '../../../tables/table.js';
import { int64 } from '../../results/kinds.js';
import { boundsShape } from '../rows.js';
import { answerRows, declareTool, rowsOutput } from '../tool.js';

export const changes = declareTool({
  name: 'changes',
  title: 'Rows that changed',
  describe:
    'Returns the rows of a table that are new, changed or gone since a run, a table version or a time, ordered by key.',
  input: z.object({
    table: z.enum(TABLE_NAMES),
    since: z.string().max(60).describe('A run (41), a table version (v14) or a UTC time'),
    ...boundsShape,
  }),
  output: z.object({
    ...rowsOutput.shape,
    table: z.string(),
    versions: z.object({ from: int64, to: int64 }),
    runs: z.array(z.string()),
  }),
  run: async ({ table, since, ...bounds }, call) => {
    const { select, from, to, runs } = await selectChanges(call.desk.lake, table, since);
    return { ...(await answerRows(call, { ...bounds, sql: select })), table, versions: { from, to }, runs };
  },
});

const QUESTIONS = { position: 'watched_lines', compliance: 'watch_compliance', suggest: 'watch_suggest' } as const;

export const watch = declareTool({
  name: 'watch',
  title: 'Your prices against the market',
  describe:
    "Compares the user's price list (--list) with the market. Shows the user's position, periods below a lowest allowed price (compliance), or suggested prices (suggest).",
  input: z.object({
    show: z.enum(['position', 'compliance', 'suggest']).optional().describe('Default: position'),
    suggest_by: z.enum(['cheapest', 'second', 'median']).optional(),
    suggest_minus: z
      .string()
      .regex(/^\d{1,2}(\.\d{1,2})?$/u)
      .optional()
      .describe('Percentage to subtract from the chosen price'),
    ...boundsShape,
  }),
  output: rowsOutput,
  run: ({ show = 'position', suggest_by = 'cheapest', suggest_minus = '0', ...bounds }, call) =>
    answerRows(
      call,
      (snapshot) => {
        const { list } = snapshot;
        if (list === undefined) {
          throw new PricelakeError('usage', 'the server was started without a price list', {
            hint: 'Ask the user to restart the server with --list mine.csv.',
          });
        }
        const own = { own_site: String(list.options.ownSite ?? '') };
        const set = show === 'suggest' ? { ...own, suggest_by, suggest_minus } : show === 'compliance' ? own : {};
        return { ...bounds, sql: bindAnalysis(snapshot, { analysis: QUESTIONS[show], set }), set };
      },
      true,
    ),
});
