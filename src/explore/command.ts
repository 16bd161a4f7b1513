import { listAnalyses } from '../analyze/analysis.js';
import { listVariables, type Question } from './question.js';

/** The analyses that `query --analysis` accepts, without those that only pages use. They are loaded on first use. */
let runnable: ReadonlySet<string> | undefined;

/** Returns the shell command that prints an analysis with these variables; undefined if no command accepts it. */
export function describeCommand(question: Pick<Question, 'analysis' | 'set'>): string | undefined {
  runnable ??= new Set(listAnalyses());
  if (!runnable.has(question.analysis)) return undefined;
  const set = listVariables(question).map(([name, value]) => ` --set ${quoteWord(`${name}=${value}`)}`);
  return `pricelake query --analysis ${question.analysis}${set.join('')}`;
}

const quoteWord = (word: string) => (/^[\w=.:-]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
