import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';

type Program = typeof import('./program.js');

/** The program and most of its packages as one wrapped CommonJS module in ASCII, made by the build. */
const BUNDLE = fileURLToPath(new URL('program.cjs', import.meta.url));
const SHA256_BYTES = 32;

/** What V8 has compiled of the bundle, and a checksum. Only the same version on the same kind of machine can use it. */
export const nameCodeCache = (bundle: string): string =>
  `${bundle}.${process.version}-${process.platform}-${process.arch}.cache`;

/** Loads the bundle, with its code cache if there is one; in a checkout that is not built, the modules themselves. */
export async function loadProgram(): Promise<Program> {
  return existsSync(BUNDLE) ? evaluate(compileBundle(BUNDLE).script) : import('./program.js');
}

/** Writes the code cache if it is missing: all that V8 has compiled of the bundle when `work` has succeeded. */
export async function writeCodeCache(work: (program: Program) => Promise<void>): Promise<void> {
  const { source, script } = compileBundle(BUNDLE);
  if (script.cachedDataRejected === false) return;
  // V8 would drop what was not called for some time. Its flags are part of the cache, so they are as before at the end.
  setFlagsFromString('--no-flush-bytecode');
  await work(evaluate(script));
  setFlagsFromString('--flush-bytecode');
  if (Number(process.exitCode ?? 0) !== 0) return;
  const code = script.createCachedData();
  const file = nameCodeCache(BUNDLE);
  const part = `${file}.${process.pid}`;
  try {
    writeFileSync(part, Buffer.concat([code, checksum(source, code)]));
    renameSync(part, file);
  } finally {
    rmSync(part, { force: true });
  }
}

/** Compiles what its code cache lacks. */
export function compileBundle(bundle: string): { source: Buffer; script: Script } {
  const source = readFileSync(bundle);
  const cachedData = readCodeCache(nameCodeCache(bundle), source);
  const script = new Script(source.toString('latin1'), {
    filename: bundle,
    ...(cachedData === undefined ? {} : { cachedData }),
  });
  return { source, script };
}

/** Undefined for a cache that is missing, damaged or of another bundle. V8 does not notice the last two, and would crash. */
function readCodeCache(file: string, source: Buffer): Buffer | undefined {
  try {
    const bytes = readFileSync(file);
    const code = bytes.subarray(0, -SHA256_BYTES);
    return checksum(source, code).equals(bytes.subarray(code.length)) ? code : undefined;
  } catch {
    return undefined;
  }
}

function checksum(source: Buffer, code: Buffer): Buffer {
  return createHash('sha256').update(source).update(code).digest();
}

/** As Node does with a CommonJS module. */
function evaluate(script: Script): Program {
  const module = { exports: {} as Program };
  script.runInThisContext()(module.exports, createRequire(BUNDLE), module, BUNDLE, path.dirname(BUNDLE));
  return module.exports;
}
