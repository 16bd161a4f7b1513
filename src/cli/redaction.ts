/** Keeps secrets out of everything the CLI prints about itself. Result data is never touched. */
export class Redactor {
  readonly #secrets = new Set<string>();

  constructor(secrets: readonly string[] = []) {
    for (const secret of secrets) this.protect(secret);
  }

  /** From now on `secret` is printed as `***`, even JSON- or URL-encoded. */
  protect(secret: string): void {
    if (secret === '') return;
    for (const form of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]) {
      this.#secrets.add(form);
    }
  }

  redact(text: string): string {
    let redacted = text;
    for (const secret of this.#secrets) redacted = redacted.replaceAll(secret, '***');
    return redacted;
  }
}
