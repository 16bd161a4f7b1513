import { readdirSync, readFileSync } from 'node:fs';
import { createMarkdownRenderer } from 'vitepress';
import { parse } from 'yaml';
import { packagePath } from '../src/io/package-path.js';
import { CODE, listComments, type Passage } from './list-comments.js';

type Renderer = Awaited<ReturnType<typeof createMarkdownRenderer>>;
type Token = ReturnType<Renderer['parse']>[number];

/**
 * The rules in `docs/style.yaml`: what not to write, what to write instead, the maximum length of a sentence, and pages
 * by other authors.
 */
interface Style {
  mostWords: number;
  generated: string[];
  rules: { expected: string; pattern: string }[];
  /** Patterns that apply only to comments in code. */
  comments: { expected: string; pattern: string }[];
}

interface Rule {
  expected: string;
  pattern: RegExp;
}

/**
 * Returns a message for each broken rule: `docs/tutorial.md:12: anew: write "again"`. Checks Markdown pages completely,
 * and only the comments of TypeScript files.
 */
export async function lintProse(files: readonly string[]): Promise<string[]> {
  const style = parse(readFileSync(packagePath('docs/style.yaml'), 'utf8')) as Style;
  const rules = readRules(style.rules);
  const ofComments = [...rules, ...readRules(style.comments)];
  const renderer = await createMarkdownRenderer(packagePath('docs'));
  return files
    .filter((file) => !style.generated.includes(file))
    .flatMap((file) => {
      const text = readFileSync(file, 'utf8');
      const isCode = file.endsWith('.ts');
      const passages = isCode ? listComments(text) : listPassages(renderer.parse(text, {}));
      return passages.flatMap((passage) =>
        [...findWords(passage, isCode ? ofComments : rules), ...findLongSentences(passage, style.mostWords)].map(
          (fault) => `${file}:${passage.line}: ${fault}`,
        ),
      );
    });
}

const readRules = (rules: Style['rules']): Rule[] =>
  rules.map(({ expected, pattern }) => ({ expected, pattern: readPattern(pattern) }));

function readPattern(text: string): RegExp {
  const [, source, flags] = /^\/(.*)\/(\w*)$/.exec(text) ?? [];
  if (source === undefined) throw new Error(`docs/style.yaml: ${text} is not a pattern such as /\\banew\\b/i`);
  return new RegExp(source, `${flags}g`);
}

function listPassages(tokens: readonly Token[]): Passage[] {
  const passages: Passage[] = [];
  let line = 1;
  let block = '';
  for (const { type, map, children } of tokens) {
    // A cell has no position of its own, so the row's line is used.
    if (map != null) line = map[0] + 1;
    if (type === 'inline')
      passages.push({ line, text: readText(children ?? []), hasSentences: block === 'paragraph_open' });
    else block = type;
  }
  return passages;
}

const readText = (children: readonly Token[]): string =>
  children
    .map(({ type, content }) => {
      if (type === 'text') return content;
      if (type === 'softbreak' || type === 'hardbreak') return ' ';
      return type === 'code_inline' ? CODE : '';
    })
    .join('');

function findWords({ text }: Passage, rules: readonly Rule[]): string[] {
  return rules.flatMap(({ expected, pattern }) =>
    [...text.matchAll(pattern)].map(([found]) => `${found}: write ${JSON.stringify(expected)}`),
  );
}

function findLongSentences({ text, hasSentences }: Passage, most: number): string[] {
  if (!hasSentences) return [];
  return text
    .split(/(?<=[.!?]["”)]*)\s+/)
    .map((sentence) => ({ sentence, words: countWords(sentence) }))
    .filter(({ words }) => words > most)
    .map(({ sentence, words }) => `${words} words in a sentence, and ${most} are allowed: ${sentence.slice(0, 60)}…`);
}

/** Counts words. A quotation counts as one word; figures and code don't count. */
const countWords = (sentence: string): number =>
  (sentence.match(/"[^"]+"|“[^”]+”|\S+/gu) ?? []).filter((word) => /\p{L}/u.test(word)).length;

function listFiles(): string[] {
  const list = (folder: string, ending: string) =>
    readdirSync(packagePath(folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith(ending) && !name.startsWith('.vitepress'))
      .map((name) => `${folder}/${name}`);
  const roots = readdirSync(packagePath('.')).filter((name) => name.endsWith('.md'));
  return [...roots, ...list('docs', '.md'), 'bench/README.md', ...list('src', '.ts')].sort();
}

if (process.argv[1] === import.meta.filename) {
  const named = process.argv.slice(2);
  const faults = await lintProse(named.length > 0 ? named : listFiles());
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exitCode = 1;
}
