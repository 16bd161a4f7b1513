import { LOOPBACK } from '../../formats/find-proxy.js';
import { PricelakeError } from '../../io/errors.js';
import type { Service } from '../http/caller.js';
import { type DeliveryTime, hasFailedTooLong, planNextAttempt, ScaledTime } from './retry-schedule.js';
import { SigningSecrets } from './signing-secrets.js';
import {
  ANSWER_WITHIN_MS,
  buildPing,
  type Delivery,
  findNewestChange,
  readNextEvent,
  sendEvent,
  type WebhookEvent,
} from './webhook-event.js';

export interface WebhookOptions {
  /**
   * The signing secrets: the current secret, then older secrets that are still valid. By default, one secret is
   * generated.
   */
  secrets?: readonly string[];
  /**
   * The factor by which retry delays, the 24-hour limit and the validity of old secrets are shortened. The default is
   * 1.
   */
  timeScale?: number;
  /** The clock that schedules delivery attempts. By default, it runs `timeScale` times as fast as real time. */
  time?: DeliveryTime;
  /** True to allow endpoints on other machines; false by default. */
  anyHost?: boolean;
  /** Milliseconds to wait for a response; 10,000 by default, as in the API document. */
  answerWithinMs?: number;
  /** Receives a line for each email that the service would send. */
  log?: (line: string) => void;
}

interface EndpointSettings {
  url: string;
  /** The new signing secret. If it is missing, the current secret stays. */
  secret?: string | undefined;
  /**
   * The id of the change to continue after. Defaults to the last delivered change or, before any delivery, to the
   * newest one.
   */
  after?: bigint | undefined;
}

/** An email that the service would send to the customer's team (delivery rule 5). */
interface Email {
  at: string;
  to: string;
  text: string;
}

interface WebhookStatus {
  url: string | null;
  state: 'none' | 'active' | 'off';
  /** True if the current plan includes webhooks (API §8). If false, changes wait until the plan includes webhooks. */
  inPlan: boolean;
  /** The id of the last delivered change. */
  cursor: bigint;
  /** The event that is being delivered. Later changes are sent only after this event is delivered. */
  pending: { id: string; attempts: number } | null;
  deliveries: Delivery[];
  emails: Email[];
}

const POLL_MS = 50;
/** The maximum number of events, attempts and emails to keep. */
const KEPT = 100;
const TEAM = 'team@sandbox.example';
const HOUR_MS = 3_600_000;

/** The customer's webhook endpoint, and the deliveries to it (API §6). */
export class Webhook {
  readonly #service: Service;
  readonly #options: WebhookOptions;
  readonly #time: DeliveryTime;
  readonly #secrets: SigningSecrets;
  readonly #events = new Map<string, WebhookEvent>();
  readonly #deliveries: Delivery[] = [];
  readonly #emails: Email[] = [];
  #url: string | null = null;
  #state: WebhookStatus['state'] = 'none';
  #cursor = 0n;
  #pending: WebhookEvent | null = null;
  #stop = new AbortController();
  #wake = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(service: Service, options: WebhookOptions = {}) {
    this.#service = service;
    this.#options = options;
    this.#time = options.time ?? new ScaledTime(options.timeScale ?? 1);
    this.#secrets = new SigningSecrets(service.world.facts.seed);
    this.#secrets.set(options.secrets ?? []);
  }

  get secret(): string {
    return this.#secrets.current;
  }

  get status(): WebhookStatus {
    const pending = this.#pending && { id: this.#pending.id, attempts: this.#pending.attempts };
    return {
      url: this.#url,
      state: this.#state,
      inPlan: this.#service.account.plan.limits.webhooks,
      cursor: this.#cursor,
      pending,
      deliveries: [...this.#deliveries],
      emails: [...this.#emails],
    };
  }

  /**
   * Sets up the endpoint, changes its URL, or turns it on again. Without `after`, deliveries continue where they
   * stopped.
   */
  async set({ url, secret, after }: EndpointSettings): Promise<void> {
    const checked = checkEndpointUrl(url, this.#options.anyHost ?? false);
    await this.#halt();
    if (secret !== undefined) this.#secrets.set([secret]);
    if (after !== undefined) this.#pending = null;
    this.#cursor = after ?? (this.#state === 'none' ? findNewestChange(this.#service) : this.#cursor);
    this.#url = checked;
    this.#state = 'active';
    this.#stop = new AbortController();
    this.#running = this.#deliverChanges(this.#stop.signal);
  }

  async remove(): Promise<void> {
    await this.#halt();
    this.#state = 'none';
    this.#url = null;
    this.#pending = null;
    this.#events.clear();
    this.#deliveries.length = 0;
  }

  /**
   * Replaces the signing secret. For another `keepHours` hours, events also have a `v1` signature made with the old
   * secret.
   */
  roll({ secret, keepHours = 24 }: { secret?: string | undefined; keepHours?: number | undefined }): void {
    this.#secrets.roll(secret, this.#time.now() + keepHours * HOUR_MS);
  }

  /** Sends a test event immediately, without retries. */
  ping(): Promise<Delivery> {
    return this.#send(this.#keep(buildPing(this.#service)));
  }

  /**
   * Sends an event again, even if it was delivered. Its id and body stay the same, and the attempt number increases.
   */
  async resend(id: string): Promise<Delivery> {
    const event = this.#events.get(id);
    if (event === undefined) throw new PricelakeError('usage', `event ${id} is not one of the latest ${KEPT} events`);
    const delivery = await this.#send(event);
    if (delivery.ok) this.#wake.abort();
    return delivery;
  }

  async close(): Promise<void> {
    await this.#halt();
  }

  async #halt(): Promise<void> {
    this.#stop.abort();
    this.#wake.abort();
    await this.#running;
  }

  /** Delivers changes in order. Later changes wait until the current event is delivered. */
  async #deliverChanges(stop: AbortSignal): Promise<void> {
    while (!stop.aborted && this.#state === 'active') {
      this.#pending ??= readNextEvent(this.#service, this.#cursor);
      if (this.#pending === null) await this.#time.sleepUntil(this.#time.now() + POLL_MS * this.#time.scale, stop);
      else await this.#deliverEvent(this.#keep(this.#pending), stop);
    }
  }

  /** Sends an event until it is delivered, the endpoint is turned off, or `stop` is aborted. */
  async #deliverEvent(event: WebhookEvent, stop: AbortSignal): Promise<void> {
    const failingSince = this.#time.now();
    while (!event.delivered) {
      await this.#send(event);
      if (stop.aborted) return;
      if (event.delivered) break;
      // Wakes early if a manual resend delivers the event, or if the endpoint changes.
      this.#wake = new AbortController();
      await this.#time.sleepUntil(planNextAttempt(event.attempts, this.#time.now(), failingSince), this.#wake.signal);
      if (stop.aborted) return;
      // Checks the time itself, because at a high scale, a timer that is slightly late is hours late in simulated time.
      if (!event.delivered && hasFailedTooLong(this.#time.now(), failingSince)) {
        this.#turnOff(event);
        return;
      }
    }
    // Commit point: from here on, later changes can be sent.
    this.#cursor = event.cursor ?? this.#cursor;
    this.#pending = null;
  }

  /** Turns the endpoint off, and notifies the team (API §6, delivery rule 5). */
  #turnOff(event: WebhookEvent): void {
    this.#state = 'off';
    const text = `The webhook endpoint ${this.#url} is turned off after 24 hours of failures; event ${event.id} was tried ${event.attempts} times.`;
    keepLatest(this.#emails, { at: this.#service.clock.iso(), to: TEAM, text });
    this.#options.log?.(`e-mail to ${TEAM}: ${text}`);
  }

  async #send(event: WebhookEvent): Promise<Delivery> {
    if (this.#url === null) throw new PricelakeError('usage', 'no webhook endpoint is set up');
    const delivery = await sendEvent(event, {
      url: this.#url,
      secrets: this.#secrets.valid(this.#time.now()),
      answerWithinMs: this.#options.answerWithinMs ?? ANSWER_WITHIN_MS,
      signal: this.#stop.signal,
    });
    keepLatest(this.#deliveries, delivery);
    return delivery;
  }

  #keep(event: WebhookEvent): WebhookEvent {
    this.#events.set(event.id, event);
    const oldest = this.#events.keys().next();
    if (this.#events.size > KEPT && !oldest.done) this.#events.delete(oldest.value);
    return event;
  }
}

function keepLatest<T>(list: T[], entry: T): void {
  list.push(entry);
  if (list.length > KEPT) list.shift();
}

/** Normalizes an http or https URL. @throws PricelakeError `usage` if it is invalid, or not local without `anyHost` */
export function checkEndpointUrl(text: string, anyHost: boolean): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new PricelakeError('usage', `webhook endpoint "${text}" is not an http or https URL`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new PricelakeError('usage', "the URL of a webhook endpoint can't contain a user name or password");
  }
  if (anyHost || LOOPBACK.test(url.hostname)) return url.href;
  const hint = 'Start the sandbox with --webhook-any-host to send made-up data to other machines.';
  throw new PricelakeError('usage', `webhook endpoint "${url.hostname}" is not on this machine`, { hint });
}
