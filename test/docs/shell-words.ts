/** A comment; a redirection with its target; the end of a command; a word, which may be quoted in parts. */
const TOKEN =
  /(?<comment>(?<![^\s(])#[^\n]*)|(?<redirection>\d?(?:>>?|<)(?:&\d|[ \t]*(?![ \t(])[^\s;|&()<>]+)?)|(?<end>&&|[;|&\n()])|(?<word>(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\;|&()<>])+)/gsu;

/** The simple commands of a shell script as words, without comments, redirections, variables set before them and braces. */
export function splitShell(script: string): string[][] {
  const commands: string[][] = [[]];
  for (const { groups } of script.replaceAll('\\\n', ' ').matchAll(TOKEN)) {
    if (groups?.end !== undefined) commands.push([]);
    else if (groups?.word !== undefined) commands.at(-1)?.push(unquote(groups.word));
  }
  return commands.map(dropPrefix).filter((words) => words.length > 0);
}

function unquote(word: string): string {
  return word.replaceAll(/'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)/gsu, (_all, single, double, escaped) =>
    String(single ?? double?.replaceAll(/\\(["\\$`])/gu, '$1') ?? escaped),
  );
}

function dropPrefix(words: string[]): string[] {
  const first = words.findIndex((word) => !/^(?:\w+=.*|[{}])$/su.test(word));
  return first < 0 ? [] : words.slice(first);
}
