import { isAbsolute, join, normalize, relative, sep } from 'node:path';
import * as z from 'zod';
import { findPathFault, quotePath } from '../io/inner-path.js';

/** The folder of a run's lake, and the folder that stands for it in this process. */
export interface Roots {
  /** The lake's folder on the machine of the run. */
  home: string;
  /** The same folder, or a worker's own. */
  root: string;
}

/** Paths of a task. In this process they are absolute, on the way they are names below the root. Collects what they name. */
export class TaskPaths {
  readonly roots: Roots;
  /** Files that go along with the task, or with its result. */
  readonly files = new Set<string>();
  /** Files of the result that only other tasks read. */
  readonly left = new Set<string>();
  /** Folders for what the task writes. */
  readonly folders = new Set<string>();
  /** A path alone: what it names stays where it is. */
  readonly path = this.#codec();
  /** A file that the task reads, or that the result names: whoever gets the value can read it. */
  readonly file = this.#codec(this.files);
  /** A file of the result that this process doesn't read: other tasks do. */
  readonly leftFile = this.#codec(this.left);
  /** A folder in which the task writes. */
  readonly folder = this.#codec(this.folders);

  constructor(roots: Roots) {
    this.roots = roots;
  }

  /** True for a path in one of the folders. */
  hasBelow(path: string): boolean {
    return [...this.folders].some((folder) => isNamed(nameBelow(folder, path)));
  }

  #codec(found?: Set<string>): z.ZodType<string, string> {
    const note = (path: string) => {
      found?.add(path);
      return path;
    };
    return z.codec(z.string(), z.string(), {
      decode: (name) => note(this.locate(name)),
      encode: (path) => this.name(note(path)),
    });
  }

  /** The path of a name. @throws for one that is not below the root */
  locate(name: string): string {
    const fault = findPathFault(name);
    if (fault !== undefined) throw new Error(`the path ${quotePath(name)} ${fault}`);
    return join(this.roots.root, name);
  }

  /** The name of a path. @throws for one that is not below the root */
  name(path: string): string {
    const name = nameBelow(this.roots.root, path);
    if (!isNamed(name)) throw new Error(`${path} is not in ${this.roots.root}`);
    return name;
  }
}

const nameBelow = (folder: string, path: string) =>
  isAbsolute(path) && normalize(path) === path ? relative(folder, path).split(sep).join('/') : '';

const isNamed = (name: string) => findPathFault(name) === undefined;
