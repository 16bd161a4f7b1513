import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, expect, onTestFinished, test } from 'vitest';

const BUILT = pathToFileURL('dist/cli/compiled-code.js').href;

let folder: string;
let compiled: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'compiled-code-'));
  compiled = join(folder, 'compiled');
  onTestFinished(() => rm(folder, { recursive: true }));
});

/** Returns the output of a process that loads a module with this text. */
async function load(text: string, { command = 'sync', exit = 0, flags = [] as string[] } = {}): Promise<string> {
  const file = join(folder, 'module.cjs');
  await writeFile(file, text);
  const code = `import { requireCompiled } from ${JSON.stringify(BUILT)};
    process.stdout.write(requireCompiled(${[file, compiled, command].map((one) => JSON.stringify(one)).join()}).say());
    process.exitCode = ${exit};`;
  const { stdout, status } = spawnSync(process.execPath, [...flags, '--input-type=module', '-e', code], {
    encoding: 'utf8',
  });
  expect(status).toBe(exit);
  return stdout;
}

const say = (word: string) =>
  `'use strict';\nexports.say = () => '${word} ' + require('node:path').basename(__filename);`;
const listKept = async () => (await readdir(compiled)).map((name) => join(compiled, name));

test('a module is compiled once, and its code is kept for later processes', async () => {
  expect(await load(say('one'))).toBe('one module.cjs');
  const [kept = ''] = await listKept();
  const { mtimeMs, size } = await stat(kept);
  expect(size).toBeGreaterThan(200);
  expect(await load(say('one'))).toBe('one module.cjs');
  expect(await listKept()).toEqual([kept]);
  expect((await stat(kept)).mtimeMs).toBe(mtimeMs);
});

test('a different text of the same length is compiled and replaces the first', async () => {
  await load(say('one'));
  const before = await listKept();
  expect(await load(say('two'))).toBe('two module.cjs');
  const after = await listKept();
  expect(after).toHaveLength(1);
  expect(after).not.toEqual(before);
});

test('each command has its own code, because each calls other functions', async () => {
  await load(say('one'), { command: 'init' });
  const [init = ''] = await listKept();
  await load(say('one'), { command: 'sync' });
  const kept = await listKept();
  expect(kept).toHaveLength(2);
  expect(kept).toContain(init);
});

test('a process with an invalid command line keeps no compiled code, but one that fails later does', async () => {
  await load(say('one'), { command: 'snyc', exit: 2 });
  await expect(listKept()).rejects.toMatchObject({ code: 'ENOENT' });
  await load(say('one'), { command: 'check', exit: 3 });
  expect(await listKept()).toHaveLength(1);
});

/** WebAssembly with an exported function `f` that counts down from its argument. */
const COUNTDOWN = '0061736d0100000001050160017f0003020100070501016600000a10010e000340200041016b22000d000b0b';

test('hot WebAssembly is not optimized', async () => {
  const text = `exports.say = () => {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(Buffer.from('${COUNTDOWN}', 'hex')));
    for (let call = 0; call < 500; call += 1) exports.f(10_000);
    return 'counted';
  };`;
  const said = await load(text, { flags: ['--trace-wasm-compilation-times'] });
  expect(said).toContain('using Liftoff');
  expect(said).not.toContain('TurboFan');
  expect(said).toContain('counted');
});

test('damaged compiled code is not run, and is replaced', async () => {
  await load(say('one'));
  const [kept = ''] = await listKept();
  const good = await readFile(kept);
  for (const bad of [good.subarray(0, good.length - 9), Buffer.alloc(good.length), Buffer.alloc(0)]) {
    await writeFile(kept, bad);
    expect(await load(say('one'))).toBe('one module.cjs');
    expect((await readFile(kept)).length).toBe(good.length);
  }
});

test("a module runs even if compiled code can't be stored", async () => {
  await writeFile(join(folder, 'file'), '');
  compiled = join(folder, 'file', 'compiled');
  expect(await load(say('one'))).toBe('one module.cjs');
});
