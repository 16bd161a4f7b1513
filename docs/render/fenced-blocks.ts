/** A fenced block: its language, what stands after it (a file's name), and its lines. */
const BLOCK = /^```(\w+) ?(.*)\n([\s\S]*?)^```$/gmu;

export interface FencedBlock {
  language: string;
  file: string;
  body: string;
}

/** The fenced blocks of a page, in order. */
export function listBlocks(text: string): FencedBlock[] {
  return [...text.matchAll(BLOCK)].map(([, language = '', file = '', body = '']) => ({ language, file, body }));
}

/** The page with the body of each `text` block replaced by what `answer` returns for the blocks up to it, in their order. */
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
