import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';

type Program = typeof import('./program.js');

/** The program and most of its packages as one CommonJS module, made by the build. */
const BUNDLE = fileURLToPath(new URL('program.cjs', import.meta.url));
const CHECKSUM_BYTES = 4;

/** What V8 has compiled of the bundle, and a checksum. Only the same version on the same kind of machine can use it. */
export const nameCodeCache = (bundle: string): string =>
  `${bundle}.${process.version}-${process.platform}-${process.arch}.cache`;

/** Loads the bundle, with its code cache if there is one; in a checkout that is not built, the modules themselves. */
export async function loadProgram(): Promise<Program> {
  return existsSync(BUNDLE) ? evaluate(compileBundle(BUNDLE).script) : import('./program.js');
}

/** Writes the code cache if it is missing: all that V8 has compiled of the bundle when `work` is done. */
export async function writeCodeCache(work: (program: Program) => Promise<void>): Promise<void> {
  const { source, script } = compileBundle(BUNDLE);
  if (script.cachedDataRejected === false) return;
  // V8 would drop what was not called for some time. Its flags are part of the cache, so they are as before at the end.
  setFlagsFromString('--no-flush-bytecode');
  await work(evaluate(script));
  setFlagsFromString('--flush-bytecode');
  const code = script.createCachedData();
  const file = nameCodeCache(BUNDLE);
  const part = `${file}.${process.pid}`;
  writeFileSync(part, Buffer.concat([code, checksum(source, code)]));
  renameSync(part, file);
}

/** Compiles what its code cache lacks. */
export function compileBundle(bundle: string): { source: Buffer; script: Script } {
  const source = readFileSync(bundle);
  const wrapped = `(function (exports, require, module, __filename, __dirname) {${source.toString()}\n})`;
  const cachedData = readCodeCache(nameCodeCache(bundle), source);
  const script = new Script(wrapped, { filename: bundle, ...(cachedData === undefined ? {} : { cachedData }) });
  return { source, script };
}

/** V8 refuses what another version wrote, but code that a disk has damaged, or that is of another bundle, would crash it. */
function readCodeCache(file: string, source: Buffer): Buffer | undefined {
  if (!existsSync(file)) return undefined;
  const bytes = readFileSync(file);
  const end = Math.max(0, bytes.length - CHECKSUM_BYTES);
  const code = bytes.subarray(0, end);
  return checksum(source, code).equals(bytes.subarray(end)) ? code : undefined;
}

/** CRC-32 of both, one after the other. */
function checksum(source: Buffer, code: Buffer): Buffer {
  const bytes = Buffer.alloc(CHECKSUM_BYTES);
  bytes.writeUInt32LE(crc32(code, crc32(source)));
  return bytes;
}

/** As Node does with a CommonJS module. */
function evaluate(script: Script): Program {
  const module = { exports: {} as Program };
  script.runInThisContext()(module.exports, createRequire(BUNDLE), module, BUNDLE, path.dirname(BUNDLE));
  return module.exports;
}
