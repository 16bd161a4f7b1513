/** Colours. Each only repeats what a word says. */
export interface Style {
  /** Failed, held, refused. */
  bad(text: string): string;
  /** Waived, not caught up. */
  warn(text: string): string;
  good(text: string): string;
  /** Billed beyond the plan. */
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

/** Chooses colours by the option, else by FORCE_COLOR, else by NO_COLOR, else by the kind of stream. */
export function chooseStyle(
  stream: { isTTY?: boolean },
  { color, env }: { color?: boolean | undefined; env: NodeJS.ProcessEnv },
): Style {
  const { FORCE_COLOR: force = '', NO_COLOR: no = '', TERM: terminal } = env;
  const isForced = force === '' ? undefined : force !== '0' && force !== 'false';
  const isUsual = no === '' && terminal !== 'dumb' && stream.isTTY === true;
  return (color ?? isForced ?? isUsual) ? COLOURED : PLAIN;
}

/** Colours the matches of each pattern. Applied after layout, because layout counts cells. */
export function paint(text: string, ...rules: [pattern: RegExp, colour: (text: string) => string][]): string {
  return rules.reduce((painted, [pattern, colour]) => painted.replace(pattern, (match) => colour(match)), text);
}
