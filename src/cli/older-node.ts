import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';

/**
 * Loads a CommonJS module and caches its compiled code in `folder` for later processes, as Node does by itself since
 * 22.8. Also delays V8's optimization of WebAssembly as much as newer versions of V8 do, because optimizing the HTTP
 * parser took a tenth of the CPU time of a run without changes.
 */
export function requireCompiled(file: string, folder: string): unknown {
  setFlagsFromString('--wasm-tiering-budget=13000000');
  const text = readFileSync(file, 'utf8');
  // V8 rejects cached code from another V8 version, but not code compiled from a different text of the same length.
  const kept = join(folder, hash(text).toString('hex'));
  const cachedData = readKept(kept);
  const wrapped = `(function (exports, require, module, __filename, __dirname) { ${text}\n})`;
  const script = new Script(wrapped, { filename: file, ...(cachedData && { cachedData }) });
  if (cachedData === undefined || script.cachedDataRejected === true) {
    process.once('exit', () => keep(folder, kept, script.createCachedData()));
  }
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(file), module, file, dirname(file));
  return module.exports;
}

const hash = (data: string | Buffer) => createHash('sha1').update(data).digest();
const HASH_BYTES = 20;

/** Reads the cached code. Returns undefined if it is missing or damaged, because V8 would run damaged code. */
function readKept(file: string): Buffer | undefined {
  try {
    const bytes = readFileSync(file);
    const code = bytes.subarray(HASH_BYTES);
    return hash(code).equals(bytes.subarray(0, HASH_BYTES)) ? code : undefined;
  } catch {
    return undefined;
  }
}

/** Replaces the cached code. If the folder isn't writable, each process compiles the module. */
function keep(folder: string, file: string, code: Buffer): void {
  const temporary = `${file}.${process.pid}`;
  try {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    writeFileSync(temporary, Buffer.concat([hash(code), code]));
    renameSync(temporary, file);
  } catch {}
}
