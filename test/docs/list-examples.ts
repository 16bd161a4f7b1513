import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { listBlocks } from '../../docs/render/fenced-blocks.js';
import { findCommand, SPECS } from '../../src/cli/commands.js';
import { packagePath } from '../../src/io/package-path.js';
import { splitShell } from './shell-words.js';

/** A command line that can be typed as written. */
export interface Example {
  args: string[];
  /** As it is written. */
  text: string;
}

const PAGES = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'bench/README.md'];
const DEPLOY = 'pipelines/deploy';

/** The examples in `--help`, on every page, in the man page and in the files for schedulers, by their place. */
export function listExamples(): Map<string, Example[]> {
  const deploy = readdirSync(packagePath(DEPLOY)).map((name) => `${DEPLOY}/${name}`);
  const found: [string, Example[]][] = [
    ...SPECS.map(({ name, examples }): [string, Example[]] => [
      `pricelake ${name} --help`,
      examples.flatMap(([line]) => readShell(line)),
    ]),
    ...listPages().map((page): [string, Example[]] => [page, readPage(read(page))]),
    ['man/pricelake.1', readManPage(read('man/pricelake.1'))],
    ...deploy.map((file): [string, Example[]] => [file, readDeployed(file, read(file))]),
  ];
  return new Map(found.filter(([, examples]) => examples.length > 0));
}

/** The blocks of a shell of every page. */
export function listShellScripts(): Map<string, string[]> {
  return new Map(listPages().map((page) => [page, readScripts(read(page))]));
}

function listPages(): string[] {
  const docs = readdirSync(packagePath('docs'), { recursive: true, encoding: 'utf8' });
  return [...PAGES, ...docs.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)].sort();
}

const read = (file: string) => readFileSync(packagePath(file), 'utf8');

/** In `docker run IMAGE`, our arguments follow the image's name. */
export function readShell(script: string): Example[] {
  return splitShell(script).flatMap((words) => {
    const isImage = words[0] === 'docker' && words[1] === 'run';
    const at = isImage ? words.indexOf('pricelake') : path.basename(words[0] ?? '') === 'pricelake' ? 0 : -1;
    const args = words.slice(at + 1);
    return at < 0 || args.length === 0 ? [] : [{ args, text: words.join(' ') }];
  });
}

/** Shell blocks, and code in sentences; a command name without arguments is only a mention. */
function readPage(text: string): Example[] {
  const spans = [...text.matchAll(/(?<!`)`([^`\n]*\bpricelake [^`\n]+)`(?!`)/gu)].map(([, code = '']) => code);
  return [
    ...readScripts(text).flatMap(readShell),
    ...spans
      .flatMap((code) => readShell(code.replaceAll(/<(\w+)>/gu, 'NAME')))
      .filter(({ args }) => findCommand(args).rest.length > 0),
  ];
}

/** In lists as well. */
function readScripts(text: string): string[] {
  const blocks = listBlocks(text.replaceAll(/^ +(?=```)/gmu, ''));
  return [
    ...blocks.filter(({ language }) => ['sh', 'bash', 'shell', 'console'].includes(language)).map(({ body }) => body),
    ...blocks.filter(({ language }) => language === 'crontab').map(({ body }) => dropTimes(body)),
  ];
}

/** Lines of a crontab that are turned off are examples, too. */
function dropTimes(crontab: string, user = ''): string {
  return crontab.replaceAll(new RegExp(`^(?:# )?(?:[\\d*/,-]+ ){5}${user}`, 'gmu'), '');
}

function readManPage(text: string): Example[] {
  const terms = [...text.matchAll(/^\.TP\n(?!\.)(.*)$/gmu)].map(([, line = '']) => line);
  return terms.flatMap((line) => readShell(line.replaceAll('\\-', '-').replaceAll('\\e', '\\').replace(/^\\&/u, '')));
}

function readDeployed(file: string, text: string): Example[] {
  const name = path.basename(file);
  // In /etc/cron.d, the user follows the times.
  if (name === 'crontab') return readShell(dropTimes(text, 'pricelake '));
  if (name.endsWith('.service')) return readShell(/^ExecStart=(.*)$/mu.exec(text)?.[1] ?? '');
  if (name.endsWith('.py')) return [...text.matchAll(PYTHON_CALL)].map(([, list = '']) => readList(list));
  const spans = [...text.matchAll(/`(pricelake [^`\n]+)`/gu)].flatMap(([, code = '']) => readShell(code));
  return [...spans, ...[...text.matchAll(/(?:^CMD|\bargs:) \[(.*)\]$/gmu)].map(([, list = '']) => readList(list))];
}

/** `["pricelake", "sync", …]`, and `run_pricelake("sync", …)`, a function of the DAG; not where others come in or are left out. */
const PYTHON_CALL = /(?:\["pricelake", |\brun_pricelake\()("(?:(?!\.\.\.)[^\])])+)[\])]/gu;

/** A word without quotes is a variable in Python: the pipeline file. A list behind a star is left out, because it may be empty. */
function readList(list: string): Example {
  const words = list.split(/,\s*/u).map((word) => word.trim());
  const args = words.filter((word) => !word.startsWith('*')).map((word) => word.replaceAll(/^"(.*)"$/gu, '$1'));
  return { args, text: `pricelake ${args.join(' ')}` };
}
