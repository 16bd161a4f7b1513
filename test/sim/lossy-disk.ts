/**
 * What a power loss leaves of a folder. This process's file calls are watched: the bytes of a file survive up to the last
 * sync that has ended, and a name survives once its folder is synced. Of all else, anything may be left: of each name, the
 * old state or the new one; of a file's tail, none, some, all, zeros, noise, or a hole in front of its end. Two promises of
 * every file system are kept: a rename loses no file, and its bytes are never mixed with those of another.
 */
import fs from 'node:fs';
import promises, { type FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { createSeeded, type Seeded } from '../seeded.js';
import { replaceCall } from './replace-call.js';
import type { Schedule } from './schedule.js';

/** What every file call throws from the loss on. */
export class PowerLoss extends Error {
  override name = 'PowerLoss';
}

/** Calls that change names or bytes, or make them durable. */
const CALLS = [
  ...['open', 'rename', 'link', 'rm', 'unlink', 'rmdir', 'mkdir'],
  ...['writeFile', 'appendFile', 'copyFile', 'truncate'],
] as const;
/** Calls that only read: they wait, too. */
const READS = ['readFile', 'readdir', 'stat'] as const;
const HANDLE_CALLS = ['sync', 'datasync', 'truncate', 'write', 'writeFile', 'appendFile'] as const;

/** The nth call of a kind, or the nth of all calls. Calls are of one kind if they differ only in numbers and ids. */
export interface Moment {
  kind?: string;
  nth: number;
}
/** Matches numbers and ids in the names of files. */
const NUMBERED = /[0-9a-f-]*\d[0-9a-f-]*/g;

type Call = (this: unknown, ...args: unknown[]) => Promise<unknown>;

const TAILS = ['none', 'some', 'all', 'zeros', 'noise', 'hole'] as const;

/** Entries of a folder: name → inode. */
type Names = Map<string, number>;

export class LossyDisk {
  readonly #root: string;
  readonly #random: Seeded;
  readonly #lossAt: Moment;
  readonly #schedule: Schedule;
  /** Keeps what was removed or replaced: the loss may bring it back. */
  readonly #removed: string;
  /** Entries of each folder that survive, by the folder's inode. */
  readonly #names = new Map<number, Names>();
  /** Bytes of each file that survive, by its inode. */
  readonly #sizes = new Map<number, number>();
  /** Bytes before a truncation that is not synced. */
  readonly #cut = new Map<number, Buffer>();
  readonly #paths = new WeakMap<object, string>();
  /** Removed folders stay open, so that no file or folder that comes gets the inode of one of them. */
  readonly #open: number[] = [];
  readonly #restore: (() => void)[] = [];
  #calls = 0;
  /** The number of calls of each kind so far. */
  readonly kinds = new Map<string, number>();
  /** Where the rest was written, once the power is lost. */
  rest: string | undefined;
  /** The call before which the power was lost. */
  struck = '';

  private constructor(root: string, random: Seeded, lossAt: Moment, schedule: Schedule) {
    this.#root = root;
    this.#random = random;
    this.#lossAt = lossAt;
    this.#schedule = schedule;
    this.#removed = `${root}-removed`;
    fs.mkdirSync(this.#removed);
    this.#noteDurable(root);
  }

  /** Watches from now on. The power is lost before the call `lossAt`. */
  static async watch(root: string, random: Seeded, lossAt: Moment, schedule: Schedule): Promise<LossyDisk> {
    const disk = new LossyDisk(root, random, lossAt, schedule);
    const handle = await promises.open('/dev/null');
    const prototype = Object.getPrototypeOf(handle) as object;
    await handle.close();
    for (const name of CALLS) disk.#replace(promises, name, (call) => disk.#wrapCall(name, call));
    for (const name of READS) disk.#replace(promises, name, (call) => disk.#wrapRead(name, call));
    for (const name of HANDLE_CALLS) disk.#replace(prototype, name, (call) => disk.#wrapHandleCall(name, call));
    syncBuiltinESMExports();
    return disk;
  }

  get calls(): number {
    return this.#calls;
  }

  /** Ends the watch, and forgets what was removed. */
  stop(): void {
    for (const restore of this.#restore) restore();
    syncBuiltinESMExports();
    for (const folder of this.#open) fs.closeSync(folder);
    fs.rmSync(this.#removed, { recursive: true });
  }

  #replace(owner: object, name: string, wrap: (call: Call) => Call): void {
    this.#restore.push(replaceCall(owner, name, wrap));
  }

  #wrapCall(name: string, call: Call): Call {
    const disk = this;
    return async function (this: unknown, ...args) {
      const paths = args.slice(0, 2).filter((arg): arg is string => typeof arg === 'string' && disk.#isInside(arg));
      const [first = '', second] = paths;
      if (paths.length === 0) return call.apply(this, args);
      await disk.#step(`${name} ${paths.map((one) => path.relative(disk.#root, one)).join(' → ')}`, name === 'open');
      if (['rm', 'unlink', 'rmdir'].includes(name)) disk.#keep(first);
      if (name === 'rename' && second !== undefined) disk.#keep(second);
      if (name === 'truncate') disk.#noteCut(first, args[1] as number);
      const flags = name === 'open' ? args[1] : name === 'writeFile' ? readFlags(args[2]) : undefined;
      if (typeof flags === 'string' && flags.startsWith('w') && !flags.includes('x')) disk.#noteCut(first, 0);
      if (name === 'copyFile' && second !== undefined) disk.#noteCut(second, 0);
      const result = await call.apply(this, args);
      if (name === 'open') disk.#paths.set(result as object, first);
      return result;
    };
  }

  #wrapRead(name: string, call: Call): Call {
    const disk = this;
    return async function (this: unknown, ...args) {
      const [file] = args;
      if (typeof file === 'string' && disk.#isInside(file))
        await disk.#schedule.turn(`${name} ${path.relative(disk.#root, file)}`);
      return call.apply(this, args);
    };
  }

  #wrapHandleCall(name: string, call: Call): Call {
    const disk = this;
    return async function (this: unknown, ...args) {
      const handle = this as FileHandle;
      const file = disk.#paths.get(handle);
      if (file === undefined) return call.apply(handle, args);
      await disk.#step(`${name} ${path.relative(disk.#root, file)}`);
      if (name === 'truncate') disk.#noteCut(file, (args[0] as number | undefined) ?? 0);
      if (name !== 'sync' && name !== 'datasync') return call.apply(handle, args);
      const { ino, size } = fs.fstatSync(handle.fd);
      const names = fs.fstatSync(handle.fd).isDirectory() ? readNames(file) : undefined;
      const result = await call.apply(handle, args);
      if (names !== undefined) disk.#names.set(ino, names);
      else {
        disk.#sizes.set(ino, size);
        disk.#cut.delete(ino);
      }
      return result;
    };
  }

  #isInside(file: string): boolean {
    return file === this.#root || file.startsWith(`${this.#root}${path.sep}`);
  }

  /** Other work may come in between, in another order each time. */
  async #step(what: string, isReading = false): Promise<void> {
    await this.#schedule.turn(what);
    if (this.rest !== undefined) throw new PowerLoss(`the power is lost: ${what}`);
    // Opening may be for reading alone: no moment of its own.
    if (isReading || !this.#isMoment(what)) return;
    this.struck = what;
    this.rest = `${this.#root}-rest`;
    this.#writeRest(this.rest);
    throw new PowerLoss(`the power is lost: ${what}`);
  }

  /** Counts a call. Returns true if the power is lost before it. */
  #isMoment(what: string): boolean {
    const kind = what.replaceAll(NUMBERED, '*');
    const count = (this.kinds.get(kind) ?? 0) + 1;
    const { kind: wanted, nth } = this.#lossAt;
    this.kinds.set(kind, count);
    this.#calls++;
    return wanted === undefined ? this.#calls === nth : kind === wanted && count === nth;
  }

  #noteDurable(folder: string): void {
    const names = readNames(folder);
    this.#names.set(fs.statSync(folder).ino, names);
    for (const [name, ino] of names) {
      const file = path.join(folder, name);
      const stats = fs.lstatSync(file);
      if (stats.isDirectory()) this.#noteDurable(file);
      else this.#sizes.set(ino, stats.size);
    }
  }

  /** Keeps a file that is about to lose its name, or all files of a folder. */
  #keep(file: string): void {
    const stats = fs.lstatSync(file, { throwIfNoEntry: false });
    if (stats === undefined) return;
    if (stats.isDirectory()) {
      this.#open.push(fs.openSync(file, 'r'));
      for (const name of fs.readdirSync(file)) this.#keep(path.join(file, name));
    } else if (!fs.existsSync(path.join(this.#removed, String(stats.ino))))
      fs.linkSync(file, path.join(this.#removed, String(stats.ino)));
  }

  #noteCut(file: string, length: number): void {
    const stats = fs.lstatSync(file, { throwIfNoEntry: false });
    if (stats === undefined || !stats.isFile()) return;
    const size = this.#sizes.get(stats.ino) ?? 0;
    if (size <= length) return;
    if (!this.#cut.has(stats.ino)) this.#cut.set(stats.ino, fs.readFileSync(file).subarray(0, size));
    this.#sizes.set(stats.ino, length);
  }

  #writeRest(to: string): void {
    const places = new Map<number, string>();
    const walk = (folder: string) => {
      places.set(fs.statSync(folder).ino, folder);
      for (const [name, ino] of readNames(folder)) {
        const file = path.join(folder, name);
        if (fs.lstatSync(file, { throwIfNoEntry: false })?.isDirectory() === true) walk(file);
        else places.set(ino, file);
      }
    };
    walk(this.#removed);
    walk(this.#root);
    const chosen = this.#chooseNames(places);
    const place = (folder: number, at: string) => {
      fs.mkdirSync(at);
      for (const [name, ino] of chosen.get(folder) ?? []) {
        const file = places.get(ino);
        const target = path.join(at, name);
        if (chosen.has(ino)) place(ino, target);
        else if (file !== undefined && fs.existsSync(file)) this.#placeFile(ino, file, target);
      }
    };
    place(fs.statSync(this.#root).ino, to);
  }

  /** Of each folder, the entries that are left. */
  #chooseNames(places: ReadonlyMap<number, string>): Map<number, Names> {
    const isFolder = (ino: number) =>
      this.#names.has(ino) ||
      fs.lstatSync(places.get(ino) as string, { throwIfNoEntry: false })?.isDirectory() === true;
    const folders = [...new Set([...this.#names.keys(), ...[...places.keys()].filter(isFolder)])];
    const chosen = new Map<number, Names>();
    const moved: { ino: number; folder: number; name: string }[] = [];
    const surviving = new Set([...this.#names.values()].flatMap((names) => [...names.values()]));
    for (const folder of folders) {
      const at = places.get(folder);
      const now = at === undefined || at === this.#removed ? new Map<string, number>() : readNames(at);
      const old = this.#names.get(folder) ?? new Map<string, number>();
      const names: Names = new Map();
      for (const name of new Set([...old.keys(), ...now.keys()])) {
        const pair = [old.get(name), now.get(name)];
        const ino = this.#random.pick(pair);
        if (ino !== undefined && (places.has(ino) || this.#names.has(ino))) names.set(name, ino);
        const [was, is] = pair;
        if (is !== undefined && is !== was && surviving.has(is)) moved.push({ ino: is, folder, name });
      }
      chosen.set(folder, names);
    }
    // A rename loses no file: where its old name is gone, its new name is there.
    const left = new Set([...chosen.values()].flatMap((names) => [...names.values()]));
    for (const { ino, folder, name } of moved) if (!left.has(ino)) chosen.get(folder)?.set(name, ino);
    return chosen;
  }

  #placeFile(ino: number, file: string, target: string): void {
    const isDurable = this.#sizes.get(ino) === fs.statSync(file).size && !this.#cut.has(ino);
    if (isDurable) fs.linkSync(file, target);
    else fs.writeFileSync(target, this.#tear(ino, fs.readFileSync(file)));
  }

  #tear(ino: number, bytes: Buffer): Buffer {
    // Lengths may differ by what clocks said. Later losses don't depend on them.
    const random = createSeeded(this.#random.integer(2 ** 31));
    const cut = this.#cut.get(ino);
    if (cut !== undefined && random.fraction() < 0.5) return cut;
    const durable = Math.min(this.#sizes.get(ino) ?? 0, bytes.length);
    const tail = Buffer.from(bytes.subarray(durable));
    const kind = random.pick(TAILS);
    const at = random.integer(tail.length + 1);
    if (kind === 'zeros') tail.fill(0);
    if (kind === 'noise') for (let n = 0; n < tail.length; n++) tail[n] = random.integer(256);
    if (kind === 'hole') tail.fill(0, 0, at);
    const length = kind === 'none' ? 0 : kind === 'some' ? at : tail.length;
    return Buffer.concat([bytes.subarray(0, durable), tail.subarray(0, length)]);
  }
}

function readNames(folder: string): Names {
  const names: Names = new Map();
  for (const name of fs.readdirSync(folder).sort()) {
    const stats = fs.lstatSync(path.join(folder, name), { throwIfNoEntry: false });
    if (stats !== undefined) names.set(name, stats.ino);
  }
  return names;
}

function readFlags(options: unknown): string {
  return (options as { flag?: string } | undefined)?.flag ?? 'w';
}
