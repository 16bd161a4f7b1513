import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';
import { EXIT } from './exit-codes.js';

/**
 * Loads a CommonJS module and caches its compiled code in `folder` for later processes. V8 compiles a function when it
 * is first called, so each command has a separate cache with the functions that the command calls. Node 22.8 and later
 * can cache compiled code too, but only the functions that the first process called, whichever command it ran.
 */
export function requireCompiled(file: string, folder: string, command: string): unknown {
  optimizeLater();
  const text = readFileSync(file, 'utf8');
  // V8 rejects code that another version of V8 has cached, but accepts code that was compiled from a different text of
  // the same length. The file name contains a hash of the text, which prevents such a mix-up.
  const key = hash(text).toString('hex');
  const kept = join(folder, `${command}-${key}`);
  const cachedData = readKept(kept);
  const wrapped = `(function (exports, require, module, __filename, __dirname) { ${text}\n})`;
  const script = new Script(wrapped, { filename: file, ...(cachedData && { cachedData }) });
  if (cachedData === undefined || script.cachedDataRejected === true) {
    process.once('exit', (code) => {
      // Doesn't create a cache file for a misspelled command.
      if (code !== EXIT.usage) keep(folder, { kept, key }, script.createCachedData());
    });
  }
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(file), module, file, dirname(file));
  return module.exports;
}

/**
 * Keeps V8 from optimizing the HTTP parser, which is WebAssembly. Otherwise, V8 optimizes the parser after only two
 * responses. In a run without changes, that took a tenth of the run's CPU time. Also makes the V8 of Node 20 wait
 * longer before it optimizes JavaScript, as newer versions of V8 do.
 */
function optimizeLater(): void {
  setFlagsFromString('--wasm-tiering-budget=1000000000');
  if (process.versions.node.startsWith('20.')) setFlagsFromString('--interrupt-budget=500000');
}

const hash = (data: string | Buffer) => createHash('sha1').update(data).digest();
const HASH_BYTES = 20;

/**
 * Reads the cached code. Returns undefined if the file is missing or damaged. V8 wouldn't detect the damage, but would
 * run the damaged code.
 */
function readKept(file: string): Buffer | undefined {
  try {
    const bytes = readFileSync(file);
    const code = bytes.subarray(HASH_BYTES);
    return hash(code).equals(bytes.subarray(0, HASH_BYTES)) ? code : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Replaces the cached code, and deletes cached code of other versions of the module. If the folder isn't writable,
 * nothing is cached.
 */
function keep(folder: string, { kept, key }: { kept: string; key: string }, code: Buffer): void {
  const temporary = `${kept}.${process.pid}`;
  try {
    mkdirSync(folder, { recursive: true });
    for (const name of readdirSync(folder)) if (!name.includes(key)) rmSync(join(folder, name), { recursive: true });
    writeFileSync(temporary, Buffer.concat([hash(code), code]));
    renameSync(temporary, kept);
  } catch {}
}
