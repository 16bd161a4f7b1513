/**
 * Runs the blocks of docs/loader/python.md, and the notebook of pipelines/notebooks, over a lake that the page's own code syncs from
 * a sandbox: `try-python.ts <python>`, with an environment that has the packages of both.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { listBlocks } from '../../docs/render/fenced-blocks.js';
import { packagePath } from '../../src/io/package-path.js';
import { openWorld } from '../run/world.js';

const [python = 'python3'] = process.argv.slice(2);
const world = await openWorld({ items: 3000, sites: 12 });
try {
  const { folder, sandbox } = world;
  const bin = path.join(folder, 'bin');
  await mkdir(bin);
  await writeFile(
    path.join(bin, 'pricelake'),
    `#!/bin/sh\nexec '${process.execPath}' '${packagePath('dist/cli/main.js')}' "$@"\n`,
  );
  await chmod(path.join(bin, 'pricelake'), 0o755);
  await writeFile(
    path.join(folder, 'prices.yaml'),
    `source: {baseUrl: '${sandbox.baseUrl}', apiKey: '\${PRICELAKE_API_KEY}'}\nlake: {path: lake}\n`,
  );
  const blocks = listBlocks(await readFile(packagePath('docs/loader/python.md'), 'utf8'));
  const page = blocks.filter(({ language }) => language === 'python').map(({ body }) => body);
  await writeFile(path.join(folder, 'page.py'), page.join('\n'));
  await cp(packagePath('pipelines/notebooks/spreads.ipynb'), path.join(folder, 'spreads.ipynb'));
  const script = packagePath('test/interop/try_python.py');
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, PRICELAKE_API_KEY: sandbox.keys.live };
  const child = spawn(python, [script], { cwd: folder, env, stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  process.exitCode = Number(code ?? 1);
} finally {
  await world.close();
}
