export interface Email {
  /** The sandbox's own time. */
  at: string;
  to: string;
  text: string;
}

const TEAM = 'team@sandbox.example';
const KEPT = 100;

/** What the team would be e-mailed (section 6, delivery rule 5): kept for the control call, and a line of the log each. */
export class TeamMail {
  readonly #emails: Email[] = [];
  readonly #log: (line: string) => void;

  constructor(log: (line: string) => void = () => {}) {
    this.#log = log;
  }

  /** The latest, oldest first. */
  get emails(): Email[] {
    return [...this.#emails];
  }

  send(at: string, text: string): void {
    this.#emails.push({ at, to: TEAM, text });
    if (this.#emails.length > KEPT) this.#emails.shift();
    this.#log(`e-mail to ${TEAM}: ${text}`);
  }
}
