/** Colours for what matters. Each only repeats what a word says. */
export interface Style {
  /** Failed, held, refused. */
  bad(text: string): string;
  /** Waived, not caught up: for a person to look at. */
  warn(text: string): string;
  good(text: string): string;
  /** What is billed beyond the plan. */
  money(text: string): string;
  dim(text: string): string;
}

const same = (text: string) => text;
export const PLAIN: Style = { bad: same, warn: same, good: same, money: same, dim: same };

const sgr = (on: number, off: number) => (text: string) => `\u001b[${on}m${text}\u001b[${off}m`;
const COLOURED: Style = {
  bad: sgr(31, 39),
  warn: sgr(33, 39),
  good: sgr(32, 39),
  money: sgr(35, 39),
  dim: sgr(2, 22),
};

/** `--color` and `--no-color` go before FORCE_COLOR, that before NO_COLOR, and that before what the stream is. */
export function chooseStyle(
  stream: { isTTY?: boolean },
  { color, env }: { color?: boolean | undefined; env: NodeJS.ProcessEnv },
): Style {
  return isColoured(stream, color, env) ? COLOURED : PLAIN;
}

function isColoured(stream: { isTTY?: boolean }, color: boolean | undefined, env: NodeJS.ProcessEnv): boolean {
  const { FORCE_COLOR: force = '', NO_COLOR: no = '', TERM: terminal } = env;
  if (color !== undefined) return color;
  if (force !== '') return force !== '0' && force !== 'false';
  return no === '' && terminal !== 'dumb' && stream.isTTY === true;
}

/** Colours what each pattern matches, in text that is laid out already. */
export function paint(text: string, ...rules: [pattern: RegExp, colour: (text: string) => string][]): string {
  return rules.reduce((painted, [pattern, colour]) => painted.replace(pattern, (match) => colour(match)), text);
}
