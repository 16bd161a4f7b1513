import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { describeFinding } from '../../../check/finding.js';
import { loadChecks } from '../../../check/load.js';
import { bindAnalysis } from '../../../explore/question.js';
import { PricelakeError } from '../../../io/errors.js';
import { packagePath } from '../../../io/package-path.js';
import type { Severity } from '../../../tables/table.js';
import { checkLake, describeResult } from '../../actions/run-check.js';
import { RawJson } from '../../json-text.js';
import { int64, raw, row } from '../../results/kinds.js';
import { useSnapshot } from '../desk.js';
import { MOST_ROWS, selectRows } from '../rows.js';
import { about, aboutShape, declareTool } from '../tool.js';

const checkShape = z.object({
  name: z.string(),
  severity: z.string(),
  passed: z.boolean(),
  violations: int64,
  description: z.string(),
  found: z.string().optional().describe('Description of the violations'),
  next: z.string().optional().describe('What to do'),
  sample: raw(z.array(row)).optional().describe('The first rows that violate the check'),
});

export const checks = declareTool({
  name: 'checks',
  title: 'Results of the checks',
  describe:
    'Results of each check in the newest checked run, with advice and the first violations. With `fresh`, runs the checks now, which takes longer.',
  input: z.object({
    select: z.array(z.string().max(100)).max(100).optional().describe('Names of checks; default: all checks'),
    failing: z.boolean().optional().describe('Only checks that found violations'),
    fresh: z.boolean().optional(),
  }),
  output: z.object({ ...aboutShape, checks: z.array(checkShape) }),
  run: ({ select, failing = false, fresh = false }, call) =>
    useSnapshot(call, async (snapshot) => {
      const { desk, signal } = call;
      const shipped = new Map((await loadChecks()).map((check) => [check.name, check]));
      const { pipeline, path: lake, remote } = desk;
      const target = { pipeline, lake, remote, failOn: 'gate', select } as const;
      const results = fresh
        ? (await checkLake(target, { signal, io: desk.io })).results.map(describeResult)
        : await readResults();
      return {
        ...about(snapshot),
        checks: results
          .filter(({ name, passed }) => (select?.includes(name) ?? true) && !(failing && passed))
          .map(({ seconds: _, sample, ...result }) => {
            const { name, passed } = result;
            const check = shipped.get(name);
            return passed ? result : { ...result, sample, found: describeFinding(result, check), next: check?.next };
          }),
      };

      async function readResults(): Promise<ReturnType<typeof describeResult>[]> {
        const sql = bindAnalysis(snapshot, { analysis: 'report_checks', set: {} });
        const { rows } = await selectRows(snapshot, { sql, limit: MOST_ROWS }, call);
        return rows.map((read) => {
          const violations = BigInt(String(read.get('violations')));
          const [name, description] = [String(read.get('name')), String(read.get('description'))];
          const severity = String(read.get('severity')) as Severity;
          const sample = toSample(String(read.get('sample')));
          return { name, severity, description, violations, passed: violations === 0n, sample, seconds: 0 };
        });
      }
    }),
});

/** Returns the sample of a check, or an empty array if the sample isn't valid JSON because it was truncated. */
function toSample(text: string): RawJson {
  try {
    JSON.parse(text);
    return new RawJson(text);
  } catch {
    return new RawJson('[]');
  }
}

interface Explanation {
  code?: string;
  exit?: number;
  meaning: string;
}

/** Reads the explanations of error codes and error messages from the documentation in the package. */
function readExplanations(): { codes: Explanation[]; messages: { heading: string; text: string }[] } {
  const codes = [...readDocs('reference/errors.md').matchAll(/^- `(\w+)` \((\d+)\): (.+)$/gmu)].map(
    ([, code = '', exit, meaning = '']) => ({ code, exit: Number(exit), meaning }),
  );
  const messages = readDocs('faq.md')
    .split(/^### /mu)
    .slice(1)
    .map((part) => {
      const [heading = '', ...lines] = part.split('\n');
      return { heading, text: lines.join('\n').trim() };
    });
  return { codes, messages };
}

const readDocs = (page: string) => readFileSync(packagePath(`docs/${page}`), 'utf8');

/** Converts the heading of an error message to a regular expression, in which `…` matches any text. */
const toPattern = (heading: string) =>
  new RegExp(
    heading
      .split('…')
      .map((part) => part.trim().replaceAll(/[.*+?^${}()|[\]\\]/gu, '\\$&'))
      .join('.*'),
    'iu',
  );

export const explainError = declareTool({
  name: 'explain_error',
  title: 'Explain an error',
  describe: 'Explains what a pricelake error means and what to do, given its code (error.code) or its message.',
  input: z.object({ code: z.string().max(100).optional(), message: z.string().max(2000).optional() }),
  output: z.object({
    code: z.object({ code: z.string(), exit: z.number(), meaning: z.string() }).optional(),
    advice: z.array(z.object({ heading: z.string(), text: z.string() })),
  }),
  run: async ({ code, message }) => {
    const { codes, messages } = readExplanations();
    const found = codes.find((one) => one.code === code);
    const advice = messages.filter(({ heading, text }) =>
      message === undefined ? code !== undefined && text.includes(`\`${code}\``) : toPattern(heading).test(message),
    );
    if (found === undefined && advice.length === 0) {
      const known = codes.map((one) => one.code).join(', ');
      throw new PricelakeError('usage', 'unknown error code', { hint: `Valid codes: ${known} and unexpected.` });
    }
    return { code: found, advice };
  },
});
