import { createHash, createHmac } from 'node:crypto';

interface Secret {
  text: string;
  /** The time at which the secret expires, in milliseconds of the clock for deliveries (DeliveryTime). */
  validUntil: number;
}

/** The signing secrets, newest first. A replaced secret stays valid for some time (API §6, Service-Signature). */
export class SigningSecrets {
  readonly #seed: number;
  #secrets: Secret[] = [];
  #derived = 0;

  constructor(seed: number) {
    this.#seed = seed;
  }

  get current(): string {
    return this.#secrets[0]?.text ?? '';
  }

  /**
   * Replaces all secrets. The first one becomes the current secret, and the others stay valid. Without secrets,
   * generates one.
   */
  set(texts: readonly string[]): void {
    const given = texts.length === 0 ? [this.#derive()] : texts;
    this.#secrets = given.map((text) => ({ text, validUntil: Number.POSITIVE_INFINITY }));
  }

  /**
   * Replaces the current secret, which then stays valid until `validUntil`. Generates the new secret if `text` is
   * missing.
   */
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
 * Builds the Service-Signature header (API §6): for each secret, a `v1` with the HMAC-SHA256 of `<t>.<body>` in hex.
 * @param t Unix time in seconds
 * @param body the raw request body
 */
export function signBody(secrets: readonly string[], t: number, body: Uint8Array): string {
  const values = secrets.map(
    (secret) => `v1=${createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')}`,
  );
  return [`t=${t}`, ...values].join(',');
}
