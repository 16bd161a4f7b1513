/** Functions that color text. Color is never the only way in which information is shown. */
export interface Style {
  /** Styles words that report a failure, such as `failed`, `held` or `refused`. */
  bad(text: string): string;
  /** Styles warnings, for example a waived check or a lake that isn't up to date. */
  warn(text: string): string;
  good(text: string): string;
  /** Styles amounts that are charged in addition to the plan's price. */
  money(text: string): string;
  dim(text: string): string;
}

const same = (text: string) => text;
export const PLAIN: Style = { bad: same, warn: same, good: same, money: same, dim: same };

const sgr = (on: number, off: number) => (text: string) => `\u001b[${on}m${text}\u001b[${off}m`;
const COLORED: Style = {
  bad: sgr(31, 39),
  warn: sgr(33, 39),
  good: sgr(32, 39),
  money: sgr(35, 39),
  dim: sgr(2, 22),
};

/**
 * Decides whether to color text. The option takes precedence, followed by FORCE_COLOR. If neither is set, text is
 * colored on a terminal, unless NO_COLOR is set or TERM is `dumb`.
 */
export function chooseStyle(
  stream: { isTTY?: boolean },
  { color, env }: { color?: boolean | undefined; env: NodeJS.ProcessEnv },
): Style {
  const { FORCE_COLOR: force = '', NO_COLOR: no = '', TERM: terminal } = env;
  const isForced = force === '' ? undefined : force !== '0' && force !== 'false';
  const isUsual = no === '' && terminal !== 'dumb' && stream.isTTY === true;
  return (color ?? isForced ?? isUsual) ? COLORED : PLAIN;
}

/**
 * Colors the matches of each pattern. Call this only after the text is laid out, because color codes would count as
 * characters of the line.
 */
export function paint(text: string, ...rules: [pattern: RegExp, color: (text: string) => string][]): string {
  return rules.reduce((painted, [pattern, color]) => painted.replace(pattern, (match) => color(match)), text);
}
