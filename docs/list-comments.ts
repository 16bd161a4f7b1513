/** Text that a reader reads in one go: a paragraph, a heading, a cell, or a paragraph of a comment. */
export interface Passage {
  line: number;
  text: string;
  /** Headings and cells hold no sentences. */
  hasSentences: boolean;
}

/** Stands for code, to which no rule applies. */
export const CODE = '\ufffc';

const COMMENT = /\/\*\*?([\s\S]*?)\*\/|(?:^[ \t]*\/\/.*\n)+|(?<=[;,{})\]] )\/\/.*/gmu;

/** Paragraphs of the comments of a TypeScript file. Diagrams, lists that are indented, and code are left out. */
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
