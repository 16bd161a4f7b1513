import type { Argv, CommandModule, Options } from 'yargs';

/** An option or an argument of a command, as it is declared. */
export interface OptionSpec extends Pick<Options, 'type' | 'describe' | 'default' | 'choices' | 'hidden'> {
  name: string;
  /** One letter. */
  alias?: string | undefined;
  /** True where a value follows. */
  takesValue: boolean;
}

/** A command as it is declared: help, the man page and completion are made from it. */
export interface CommandSpec {
  /** `sandbox advance` */
  name: string;
  /** With its arguments: `schema [table]`. */
  usage: string;
  describe: string;
  positionals: OptionSpec[];
  options: OptionSpec[];
  examples: { command: string; meaning: string }[];
  epilogue: string;
  commands: CommandSpec[];
}

/** What a command declares to yargs, without a command line to parse. */
export function describeCommand(module: CommandModule<object, never>, parent = ''): CommandSpec {
  const usage = `${parent}${module.command}`;
  const spec: CommandSpec = {
    name: usage.replace(/ [<[].*$/u, ''),
    usage,
    describe: String(module.describe ?? ''),
    positionals: [],
    options: [],
    examples: [],
    epilogue: '',
    commands: [],
  };
  const recorder: object = new Proxy(
    {},
    {
      get: (_target, method) =>
        method === 'then' ? undefined : (...args: unknown[]) => record(spec, method, args, recorder),
    },
  );
  if (typeof module.builder === 'function') void (module.builder as (yargs: Argv) => unknown)(recorder as Argv);
  return spec;
}

function record(spec: CommandSpec, method: string | symbol, args: unknown[], recorder: object): object {
  const [first, second] = args;
  if (method === 'positional') spec.positionals.push(describeOption(String(first), second as Options));
  if (method === 'option') spec.options.push(describeOption(String(first), second as Options));
  if (method === 'example')
    spec.examples.push({ command: String(first).replaceAll('$0', 'pricelake'), meaning: String(second) });
  if (method === 'epilogue') spec.epilogue = String(first);
  if (method === 'command') spec.commands.push(describeCommand(first as CommandModule<object, never>, `${spec.name} `));
  return recorder;
}

export function describeOption(name: string, options: Options): OptionSpec {
  const { type, describe, choices, hidden } = options;
  return {
    name,
    type,
    describe,
    choices,
    hidden,
    default: options.default,
    alias: typeof options.alias === 'string' ? options.alias : undefined,
    takesValue: !['boolean', 'count'].includes(type ?? ''),
  };
}
