import { buildProgram } from '../../src/cli/program.js';

const WIDTH = 100;

/** A command and what `--help` prints for it. */
export interface CommandHelp {
  /** E.g. `sandbox advance`; empty for the program itself. */
  name: string;
  help: string;
}

/** The help of the program and of every command, from the definitions that parse the command line. */
export async function listHelps(name = ''): Promise<CommandHelp[]> {
  const args = [...name.split(' ').filter((word) => word !== ''), '--help'];
  const help = await new Promise<string>((resolve) => {
    void buildProgram(args)
      .wrap(WIDTH)
      .parse(args, {}, (_error: unknown, _argv: unknown, output: string) => resolve(output.trimEnd()));
  });
  const pattern = new RegExp(`^ {2}pricelake ${name === '' ? '' : `${name} `}([a-z]+)\\b.* {2}`, 'gm');
  const [commands = ''] = /^Commands:\n(?: .*\n?)*/m.exec(help) ?? [];
  const helps = [{ name, help }];
  for (const [, word] of commands.matchAll(pattern)) {
    // `help --help` is the help of the program.
    if (word !== 'help') helps.push(...(await listHelps(`${name} ${word}`.trim())));
  }
  return helps;
}

/** `docs/reference/cli.md`. */
export async function renderCli(): Promise<string> {
  const helps = await listHelps();
  const sections = helps.map(({ name, help }) => `## ${`pricelake ${name}`.trim()}\n\n\`\`\`text\n${help}\n\`\`\`\n`);
  return `# Command line

\`npm run docs\` generates this page from the definitions of the command line.

Results go to stdout. Logs and progress go to stderr: bars and lines on a terminal, JSON lines elsewhere. With \`--json\`,
the last line of stdout is one JSON object: \`{"ok": true, …}\`, or \`{"ok": false, "error": {"code", "message", "hint", …}}\`.
[Errors and exit codes](errors.md) lists every code. [Environment](environment.md) lists the variables.

${sections.join('\n')}`;
}
