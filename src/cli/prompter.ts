import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

/** Asks a person at a terminal. */
export interface Prompter {
  /** Returns the answer without spaces around it; an empty text for Enter alone. */
  ask(question: string): Promise<string>;
  /** Doesn't show the answer. */
  askSecret(question: string): Promise<string>;
}

/** Undefined if nobody can answer, as in a pipe or a scheduler. */
export function createPrompter(
  input: NodeJS.ReadStream,
  output: NodeJS.WriteStream,
  signal: AbortSignal,
): Prompter | undefined {
  if (!input.isTTY || !output.isTTY) return undefined;
  const ask = async (question: string, isShown: boolean): Promise<string> => {
    if (!isShown) output.write(question);
    const muted = new Writable({ write: (_chunk, _encoding, done) => done() });
    const lines = createInterface({ input, output: isShown ? output : muted, terminal: true });
    // In raw mode, Ctrl-C is a character.
    lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    try {
      return (await lines.question(isShown ? question : '', { signal })).trim();
    } finally {
      lines.close();
      if (!isShown) output.write('\n');
    }
  };
  return { ask: (question) => ask(question, true), askSecret: (question) => ask(question, false) };
}
