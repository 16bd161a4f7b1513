/** Text that is read as a unit: a paragraph, a heading, a table cell, or a paragraph in a comment. */
export interface Passage {
  line: number;
  text: string;
  /** False for headings and cells, which don't contain sentences. */
  hasSentences: boolean;
}

/** Replaces code, to which no rule applies. */
export const CODE = '\ufffc';

const COMMENT = /\/\*\*?([\s\S]*?)\*\/|(?:^[ \t]*\/\/.*\n)+|(?<=[;,{})\]] )\/\/.*/gmu;

/** Lists the paragraphs in a TypeScript file's comments. Skips diagrams, indented lists, and code. */
export function listComments(source: string): Passage[] {
  const passages: Passage[] = [];
  for (const { 0: comment, index } of source.matchAll(COMMENT)) {
    const first = source.slice(0, index).split('\n').length;
    const lines = comment.replace(/\*\/$/u, '').split('\n');
    let open: Passage | undefined;
    for (const [at, line] of lines.entries()) {
      const text = line.replace(/^\s*(?:\/\*\*?|\*|\/\/) ?/u, '').trimEnd();
      const isApart = text === '' || /^(?: {4}|```)/u.test(text);
      if (isApart || text.startsWith('@')) open = undefined;
      if (isApart || text.startsWith('biome-ignore')) continue;
      if (open === undefined) {
        open = { line: first + at, text: '', hasSentences: true };
        passages.push(open);
      }
      open.text = `${open.text} ${text}`.trim();
    }
  }
  return passages.map((passage) => ({ ...passage, text: passage.text.replaceAll(/`[^`]*`/gu, CODE) }));
}
