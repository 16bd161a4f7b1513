import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const MAX_CONNECTIONS = 256;

/** `idle`: no request yet. `asking`: the request is being received. `taken`: its body is being verified and written. */
type Stage = 'idle' | 'asking' | 'taken';

/** The stages in which a new connection may replace an existing one, in order of preference. */
const LOSSES: readonly Stage[] = ['idle', 'asking'];

/**
 * Limits a server's connections. When the limit is reached, a new connection replaces an old one, because otherwise
 * anybody who holds connections open could lock the sender out. A connection whose event is being written is never
 * replaced.
 */
export class Connections {
  /** Sorted by the time of each socket's last stage change, oldest first. */
  readonly #stages = new Map<Socket, Stage>();

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => this.#admit(socket));
  }

  note(socket: Socket, stage: Stage): void {
    if (this.#stages.delete(socket)) this.#stages.set(socket, stage);
  }

  #admit(socket: Socket): void {
    if (this.#stages.size >= MAX_CONNECTIONS) this.#close(this.#findLeastLoss() ?? socket);
    if (socket.destroyed) return;
    this.#stages.set(socket, 'idle');
    socket.once('close', () => this.#stages.delete(socket));
  }

  #close(socket: Socket): void {
    this.#stages.delete(socket);
    socket.destroy();
  }

  #findLeastLoss(): Socket | undefined {
    for (const stage of LOSSES) {
      for (const [socket, its] of this.#stages) if (its === stage) return socket;
    }
    return undefined;
  }
}
