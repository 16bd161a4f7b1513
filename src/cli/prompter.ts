import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

/** Asks a person at a terminal. Returns the answer without spaces around it; an empty text for Enter alone. */
export type Prompter = (question: string, isSecret?: boolean) => Promise<string>;

/** Undefined if nobody can answer, as in a pipe or a scheduler. */
export function createPrompter(
  input: NodeJS.ReadStream,
  output: NodeJS.WriteStream,
  signal: AbortSignal,
): Prompter | undefined {
  if (!input.isTTY || !output.isTTY) return undefined;
  return async (question, isSecret = false) => {
    if (isSecret) output.write(question);
    const muted = new Writable({ write: (_chunk, _encoding, done) => done() });
    const lines = createInterface({ input, output: isSecret ? muted : output, terminal: true });
    // In raw mode, Ctrl-C is a character.
    lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    try {
      return (await lines.question(isSecret ? '' : question, { signal })).trim();
    } finally {
      lines.close();
      if (isSecret) output.write('\n');
    }
  };
}
