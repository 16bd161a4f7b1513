import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { packagePath } from '../../src/io/package-path.js';
import { fillOutputs } from './fenced-blocks.js';

/** The address and the key that the page shows. A reader's are different. */
const ADDRESS = 'http://127.0.0.1:8600';
const KEY = 'sandbox_live_…';

/**
 * Generates the outputs in docs/tutorial.md. Runs its `sh` blocks one after another in an empty folder, with the built
 * command line on the path. Skips `npm`, and keeps the sandbox running during the other commands. Its `ini` block is a
 * file. Each `text` block becomes what the block before it prints to stdout.
 * @throws Error if a command fails
 */
export async function renderTutorial(text: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pricelake-tutorial-'));
  let sandbox: RunningSandbox | undefined;
  try {
    const env = await putOnPath(folder);
    const cwd = path.join(folder, 'prices');
    await mkdir(cwd);
    let output = '';
    return await fillOutputs(text, async ({ language, file, body }) => {
      if (language === 'text') return maskOutput(output, cwd);
      if (language === 'ini') await writeFile(path.join(cwd, file), fillIn(body, sandbox));
      if (language !== 'sh' || body.startsWith('npm ')) return undefined;
      if (body.startsWith('pricelake sandbox --')) {
        sandbox = await startSandbox(
          body
            .replace(/--port \d+/, '--port 0')
            .trim()
            .split(' '),
          { cwd, env },
        );
        return undefined;
      }
      const typed = await promisify(execFile)('sh', ['-e', '-c', body], { cwd, env });
      output = typed.stdout;
      return undefined;
    });
  } finally {
    sandbox?.stop();
    await rm(folder, { recursive: true });
  }
}

/**
 * Masks figures that differ between runs without a meaning: seconds, bytes, the machine's clock, numbers of checks and
 * their findings, and how much a proof has examined. Samples depend on the run's id, and skip items that changed in the
 * last minute.
 */
export function maskFigures(page: string): string {
  return page
    .replaceAll(/\b\d+(\.\d+)? ?s\b/g, '0 s')
    .replaceAll(/\b[\d.,]+ [kMGT]?B\b/g, '0 B')
    .replaceAll(/\d{4}-\d{2}-\d{2}T[\d:.]+Z/g, 'T')
    .replaceAll(/\b\d+ items read again/g, '10 items read again')
    .replaceAll(/\b\d+ of \d+ checks/g, '0 of 0 checks')
    .replaceAll(/^ {2}attention .*(?:\n {13}.*)*/gm, '  attention')
    .replaceAll(/\b\d{6}-\d{8}T\d{6}Z\b/g, 'RUN')
    .replaceAll(/^ok .*/gm, (proof) => proof.replaceAll(/[\d,]+/g, '0'))
    .replaceAll(/ {2,}|─+/g, ' ');
}

interface RunningSandbox {
  address: string;
  key: string;
  stop(): void;
}

/** Installs `pricelake` as a command, as npm link does. */
async function putOnPath(folder: string): Promise<NodeJS.ProcessEnv> {
  const main = packagePath('dist/cli/main.js');
  await writeFile(path.join(folder, 'pricelake'), `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`, {
    mode: 0o755,
  });
  return { PATH: `${folder}:${process.env.PATH}`, HOME: folder, NO_COLOR: '1' };
}

async function startSandbox(
  [command = '', ...args]: string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<RunningSandbox> {
  const child = spawn(command, [...args, '--json'], { ...options, stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const { base_url: baseUrl, keys } = JSON.parse(line.toString()) as { base_url: string; keys: { live: string } };
  return { address: baseUrl, key: keys.live, stop: () => void child.kill() };
}

function fillIn(body: string, sandbox: RunningSandbox | undefined): string {
  return body.replace(ADDRESS, sandbox?.address ?? ADDRESS).replace(KEY, sandbox?.key ?? KEY);
}

/** Replaces the temporary folder with the reader's, and removes spaces at the ends of lines. */
function maskOutput(output: string, cwd: string): string {
  return `${output.replaceAll(cwd, '/home/you/prices').replaceAll(/ +$/gm, '').trimEnd()}\n`;
}
