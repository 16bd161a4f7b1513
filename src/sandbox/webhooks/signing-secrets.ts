import { createHash, createHmac } from 'node:crypto';

interface Secret {
  text: string;
  /** On the scaled time. */
  validUntil: number;
}

/** Newest first: a rolled secret stays valid for a while (section 6, Service-Signature). */
export class SigningSecrets {
  readonly #seed: number;
  #secrets: Secret[] = [];
  #derived = 0;

  /** @param seed generates the secrets that the user does not give */
  constructor(seed: number) {
    this.#seed = seed;
  }

  get current(): string {
    return this.#secrets[0]?.text ?? '';
  }

  /** The first is the current one, the others are rolled ones that stay valid. */
  set(texts: readonly string[]): void {
    const given = texts.length === 0 ? [this.#derive()] : texts;
    this.#secrets = given.map((text) => ({ text, validUntil: Number.POSITIVE_INFINITY }));
  }

  /** The secret so far stays valid until then. */
  roll(text: string | undefined, validUntil: number): void {
    const old = this.#secrets.slice(0, 1).map((secret) => ({ ...secret, validUntil }));
    this.#secrets = [{ text: text ?? this.#derive(), validUntil: Number.POSITIVE_INFINITY }, ...old];
  }

  valid(now: number): string[] {
    return this.#secrets.filter(({ validUntil }) => validUntil > now).map(({ text }) => text);
  }

  #derive(): string {
    this.#derived++;
    const hash = createHash('sha256').update(`signing secret ${this.#seed} ${this.#derived}`).digest('hex');
    return `sandbox_secret_${hash.slice(0, 32)}`;
  }
}

/**
 * The header Service-Signature (section 6): HMAC-SHA256 over `<t>.<body>` in hex, one `v1` for each secret.
 * @param t unix seconds
 * @param body the raw request body
 */
export function signBody(secrets: readonly string[], t: number, body: Uint8Array): string {
  const values = secrets.map(
    (secret) => `v1=${createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')}`,
  );
  return [`t=${t}`, ...values].join(',');
}
