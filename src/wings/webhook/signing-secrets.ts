import { readFile, stat } from 'node:fs/promises';
import { PricelakeError } from '../../io/errors.js';
import type { Io } from '../../io/io.js';

type SecretSource = string | { file: string };

/** Identifies the content of a file. The value changes whenever the file is written or replaced. */
type Version = string;

interface SecretFile {
  path: string;
  version: Version;
  secrets: string[];
  /** The last error that was logged for this file. The same error isn't logged again with every event. */
  reported?: string | undefined;
}

/**
 * The secrets with which events are signed. Changed files are read again, so that a secret can be replaced without a
 * restart. The user adds the new secret, replaces it in the portal, and deletes the old one a day later.
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
   * Reads all secrets.
   * @param protect is called with each secret before the secret is first used, so that logs redact it
   * @throws PricelakeError `config` if a file can't be read or is empty
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

  /** Returns the valid secrets. Reads changed files again. If that fails, a file's previous secrets stay valid. */
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

  /** Reads every file again, even if it seems unchanged. */
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

/** Reads a file of secrets. Its errors omit the path, which may be a secret by mistake, and the system's message. */
async function readSecretFile(path: string): Promise<SecretFile> {
  try {
    // The version is read before the text, so that a change between the two reads is noticed next time.
    const version = await readVersion(path);
    const lines = (await readFile(path, 'utf8')).split('\n').map((line) => line.trim());
    const secrets = lines.filter((line) => line !== '');
    if (secrets.length > 0) return { path, version, secrets };
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new PricelakeError('config', `webhook.secret.file: the file can't be read (${code})`);
  }
  throw new PricelakeError('config', "webhook.secret.file: the file doesn't contain a secret");
}

/** Returns the version of a file. Follows links, because Kubernetes replaces a link when a secret changes. */
async function readVersion(path: string): Promise<Version> {
  const { dev, ino, size, mtimeNs } = await stat(path, { bigint: true });
  return [dev, ino, size, mtimeNs].join();
}
