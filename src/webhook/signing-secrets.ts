import { readFile, stat } from 'node:fs/promises';
import { PricelakeError } from '../errors/errors.js';
import type { Io } from '../io/io.js';

/** Where a signing secret comes from: the text of an environment variable, or a file with a secret a line. */
export type SecretSource = string | { file: string };

/** Changes if a file was written or replaced. */
type Version = string;

interface SecretFile {
  path: string;
  version: Version;
  secrets: string[];
  /** What was reported last, so that it is not said with every event. */
  reported?: string | undefined;
}

/**
 * The endpoint's signing secrets. Files are read again when they change, so that a secret is rolled without a restart:
 * add the new one, roll it in the portal, and take the old one out a day later.
 */
export class SigningSecrets {
  readonly #texts: string[];
  readonly #files: SecretFile[];
  readonly #protect: (secret: string) => void;
  readonly #io: Io;

  private constructor(texts: string[], files: SecretFile[], protect: (secret: string) => void, io: Io) {
    this.#texts = texts;
    this.#files = files;
    this.#protect = protect;
    this.#io = io;
    for (const secret of this.#list()) protect(secret);
  }

  /**
   * @param protect gets every secret before it is used, so that none is logged
   * @throws PricelakeError `config` when a file can't be read or holds nothing
   */
  static async open(
    sources: readonly SecretSource[],
    protect: (secret: string) => void,
    io: Io,
  ): Promise<SigningSecrets> {
    const files: SecretFile[] = [];
    for (const source of sources) if (typeof source !== 'string') files.push(await readSecretFile(source.file));
    const texts = sources.filter((source) => typeof source === 'string');
    return new SigningSecrets(texts, files, protect, io);
  }

  /** All that are valid now. Looks whether a file has changed; one that can't be read leaves its last secrets valid. */
  async current(): Promise<string[]> {
    for (const file of this.#files) {
      try {
        if ((await readVersion(file.path)) !== file.version) await this.#reload(file);
      } catch (error) {
        this.#report(file, error);
      }
    }
    return this.#list();
  }

  /** Reads every file again, whether it looks changed or not. */
  async reload(): Promise<void> {
    for (const file of this.#files) await this.#reload(file).catch((error: unknown) => this.#report(file, error));
  }

  async #reload(file: SecretFile): Promise<void> {
    const { version, secrets } = await readSecretFile(file.path);
    for (const secret of secrets) this.#protect(secret);
    Object.assign(file, { version, secrets, reported: undefined });
    this.#io.log('info', 'webhook.secrets_read', { file: file.path, secrets: secrets.length });
  }

  #report(file: SecretFile, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    if (file.reported === reason) return;
    file.reported = reason;
    this.#io.log('error', 'webhook.secrets_kept', { file: file.path, reason });
  }

  #list(): string[] {
    return [...this.#texts, ...this.#files.flatMap(({ secrets }) => secrets)];
  }
}

/** A secret a line; blank lines do not count. Errors leave the path out, and the system's text: it may be a secret. */
async function readSecretFile(path: string): Promise<SecretFile> {
  try {
    // Before the text: a change in between is seen the next time.
    const version = await readVersion(path);
    const lines = (await readFile(path, 'utf8')).split('\n').map((line) => line.trim());
    const secrets = lines.filter((line) => line !== '');
    if (secrets.length > 0) return { path, version, secrets };
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new PricelakeError('config', `the file of webhook.secret.file can't be read (${code})`);
  }
  throw new PricelakeError('config', 'the file of webhook.secret.file holds no secret');
}

/** Follows links: Kubernetes swaps one when a secret changes. */
async function readVersion(path: string): Promise<Version> {
  const { dev, ino, size, mtimeNs } = await stat(path, { bigint: true });
  return [dev, ino, size, mtimeNs].join();
}
