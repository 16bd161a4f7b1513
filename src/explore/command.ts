import { listVariables, type Question } from './question.js';

/** The command that prints the rows of a question. */
export function describeCommand(question: Question): string {
  const set = listVariables(question).map(([name, value]) => ` --set ${quoteWord(`${name}=${value}`)}`);
  return `pricelake query --analysis ${question.analysis}${set.join('')}`;
}

const quoteWord = (word: string) => (/^[\w=.:-]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
