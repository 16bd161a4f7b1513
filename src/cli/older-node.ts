import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';

/**
 * Loads a CommonJS module, and keeps its compiled code in `folder` for later processes. Node does so by itself from 22.8 on.
 * V8 also waits as long as its newer versions do before it optimizes WebAssembly, because optimizing the HTTP parser took a
 * tenth of the CPU time of a run that found nothing new.
 */
export function requireCompiled(file: string, folder: string): unknown {
  setFlagsFromString('--wasm-tiering-budget=13000000');
  const text = readFileSync(file, 'utf8');
  // V8 refuses code of another version of V8, but not code of another text of the same length.
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

/** Undefined if there is no kept code, or if it is damaged, because V8 would run it. */
function readKept(file: string): Buffer | undefined {
  try {
    const bytes = readFileSync(file);
    const code = bytes.subarray(HASH_BYTES);
    return hash(code).equals(bytes.subarray(0, HASH_BYTES)) ? code : undefined;
  } catch {
    return undefined;
  }
}

/** Replaces the kept code. If the folder can't be written, each process compiles the module. */
function keep(folder: string, file: string, code: Buffer): void {
  const temporary = `${file}.${process.pid}`;
  try {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    writeFileSync(temporary, Buffer.concat([hash(code), code]));
    renameSync(temporary, file);
  } catch {}
}
