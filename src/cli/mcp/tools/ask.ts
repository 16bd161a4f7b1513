import * as z from 'zod';
import { listAnalyses, readQuestion } from '../../../analyze/analysis.js';
import { resolveKnown } from '../../../analyze/known-values.js';
import { checkSet, describeType, readAbout, readVariables } from '../../../analyze/variables.js';
import { bindAnalysis } from '../../../explore/question.js';
import type { Snapshot } from '../../../explore/snapshot.js';
import { readAnalysis } from '../../../sql/model.js';
import { row } from '../../results/kinds.js';
import { type Call, isOfPast, useSnapshot } from '../desk.js';
import { boundsShape, MOST_ROWS, type RowsRequest, selectRows } from '../rows.js';
import { about, aboutShape, answerRows, declareTool, rowsOutput } from '../tool.js';

const ANALYSES = listAnalyses();
const variableShape = z.object({
  name: z.string(),
  type: z.string(),
  about: z.string(),
  default: z.string().optional(),
  isRequired: z.boolean(),
});

export const analyses = declareTool({
  name: 'analyses',
  title: 'List the analyses',
  describe:
    'Lists the analyses and the question that each one answers. With a name, returns the variables, method and limits of that analysis. Prefer analyses to your own SQL, because they exclude prices that look wrong.',
  input: z.object({
    analysis: z.enum(ANALYSES).optional().describe('Only this analysis, with its variables, method and limits'),
  }),
  output: z.object({
    analyses: z.array(
      z.object({
        name: z.string(),
        question: z.string(),
        about: z.string().optional(),
        variables: z.array(variableShape).optional(),
      }),
    ),
  }),
  run: async ({ analysis }) => ({
    analyses: analysis === undefined ? ANALYSES.map(nameQuestion) : [describeAnalysis(analysis)],
  }),
});

const nameQuestion = (name: string) => ({ name, question: readQuestion(name) });

const describeAnalysis = (name: string) => ({
  ...nameQuestion(name),
  about: readAbout(readAnalysis(name)),
  variables: readVariables(name).map((one) => {
    const { name: variable, about: says, default: usual, isRequired } = one;
    return { name: variable, type: describeType(one), about: says, default: usual, isRequired };
  }),
});

/**
 * Runs an analysis. The values of variables are bound as session variables, so they never become part of the SQL. A
 * value that doesn't occur in the lake causes an error instead of an empty result.
 */
function askAnalysis(analysis: string, given: Record<string, string>, call: Call, bounds: Omit<RowsRequest, 'sql'>) {
  const { rates } = call.desk;
  const variables = readVariables(analysis);
  const isOfRates = rates !== undefined && variables.some(({ name }) => name === 'base');
  const wanted = isOfRates ? { base: rates.base, ...given } : given;
  checkSet(analysis, variables, wanted);
  const choose = async (snapshot: Snapshot) => {
    const set = await resolveKnown(snapshot.version.statements(), variables, wanted);
    return { ...bounds, sql: bindAnalysis(snapshot, { analysis, set }), set };
  };
  return answerRows(call, choose, isOfPast(analysis));
}

/** Converts the values to text, and omits undefined values. */
const toSet = (values: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );

export const runAnalysis = declareTool({
  name: 'run_analysis',
  title: 'Run an analysis',
  describe: 'Runs an analysis from the list that `analyses` returns, and returns rows. Variables are passed as text.',
  input: z.object({
    analysis: z.enum(ANALYSES),
    variables: z
      .record(z.string().regex(/^[a-z_]\w{0,40}$/u), z.string().max(1000))
      .optional()
      .describe('Variable values keyed by name (see `analyses`), such as {"currency": "EUR"}'),
    ...boundsShape,
  }),
  output: rowsOutput,
  run: ({ analysis, variables = {}, ...bounds }, call) => askAnalysis(analysis, variables, call, bounds),
});

export const query = declareTool({
  name: 'query',
  title: 'Query with SQL',
  describe:
    "Runs one SELECT in DuckDB's SQL on the tables listed by `describe` and the price_spells view. Can't read files or change anything. Aggregate in SQL, because answers have few rows.",
  input: z.object({ sql: z.string().min(1).max(20_000), ...boundsShape }),
  output: rowsOutput,
  run: ({ sql, ...bounds }, call) => answerRows(call, { ...bounds, sql, isForeign: true }, false),
});

/**
 * The default number of rows for each of the six kinds of price moves. The answer's of_kind column counts all moves of
 * the kind.
 */
const MOVERS_OF_KIND = 3;

const moverShape = {
  since: z
    .string()
    .max(40)
    .optional()
    .describe('A time such as 2026-11-20T08:00:00Z; default: one day before the newest data'),
  since_run: z.int().min(0).optional().describe('Alternative to since: changes after this run'),
  currency: z.string().max(3).optional(),
  category: z.string().max(200).optional().describe('Category slug or path; includes subcategories'),
  site_id: z.string().max(20).optional(),
  product: z.string().max(200).optional(),
  kind: z.enum(['fall', 'rise', 'new', 'back', 'removed', 'gone']).optional(),
  top: z.int().min(1).max(MOST_ROWS).optional().describe(`Rows of each kind, largest first; default ${MOVERS_OF_KIND}`),
};

export const movers = declareTool({
  name: 'movers',
  title: 'What moved',
  describe:
    'Price falls and rises, and added and removed listings, since a time or a run: the largest of each kind, and the number of rows of that kind (of_kind). Uses the movers analysis.',
  input: z.object({ ...moverShape, ...boundsShape }),
  output: rowsOutput,
  run: ({ limit, offset, top = MOVERS_OF_KIND, ...set }, call) =>
    askAnalysis('movers', toSet({ ...set, top }), call, { limit, offset }),
});

export const product = declareTool({
  name: 'product',
  title: 'One product',
  describe:
    'One product: its spread by currency, and its listed offers, cheapest first, with the reason why an offer is excluded.',
  input: z.object({
    product: z.string().min(1).max(200).describe('A product_id, or a GTIN in any form'),
    currency: z.string().max(3).optional(),
    limit: boundsShape.limit,
  }),
  output: z.object({
    ...aboutShape,
    spreads: z.array(row),
    offers: rowsOutput.omit({ lake: true, run: true, credits: true }),
  }),
  run: ({ product: given, currency, limit }, call) =>
    useSnapshot(call, async (snapshot) => {
      const variables = readVariables('find_products');
      const set = await resolveKnown(snapshot.version.statements(), variables, toSet({ product: given, currency }));
      const select = (analysis: string) =>
        selectRows(snapshot, { sql: bindAnalysis(snapshot, { analysis, set }), set, limit }, call);
      const [spreads, offers] = [await select('find_products'), await select('offers')];
      return { ...about(snapshot), spreads: spreads.rows, offers };
    }),
});
