import { listAnalyses } from '../analyze/analysis.js';
import { listVariables, type Question } from './question.js';

/** The analyses that `query --analysis` accepts; parts of pages are not among them. */
let runnable: ReadonlySet<string> | undefined;

/** The command that prints the rows of a question; undefined if no command does. */
export function describeCommand(question: Pick<Question, 'analysis' | 'set'>): string | undefined {
  runnable ??= new Set(listAnalyses());
  if (!runnable.has(question.analysis)) return undefined;
  const set = listVariables(question).map(([name, value]) => ` --set ${quoteWord(`${name}=${value}`)}`);
  return `pricelake query --analysis ${question.analysis}${set.join('')}`;
}

const quoteWord = (word: string) => (/^[\w=.:-]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
