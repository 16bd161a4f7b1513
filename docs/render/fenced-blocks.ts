/** Matches a fenced block: its language, the text after the language (a file name), and its lines. */
const BLOCK = /^```(\w+) ?(.*)\n([\s\S]*?)^```$/gmu;

export interface FencedBlock {
  language: string;
  file: string;
  body: string;
}

/** Lists the fenced blocks of a page in order. */
export function listBlocks(text: string): FencedBlock[] {
  return [...text.matchAll(BLOCK)].map(([, language = '', file = '', body = '']) => ({ language, file, body }));
}

/** Replaces the body of each `text` block with what `answer` returns for the preceding blocks, in their order. */
export async function fillOutputs(
  text: string,
  answer: (block: FencedBlock) => Promise<string | undefined>,
): Promise<string> {
  let filled = '';
  let end = 0;
  for (const { 0: block, 1: language = '', 2: file = '', 3: body = '', index } of text.matchAll(BLOCK)) {
    const output = await answer({ language, file, body });
    filled += text.slice(end, index);
    filled += output === undefined ? block : `\`\`\`${language}\n${output}\`\`\``;
    end = index + block.length;
  }
  return filled + text.slice(end);
}
