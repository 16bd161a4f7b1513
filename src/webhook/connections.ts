import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Connections that are open at a time. */
const MAX_CONNECTIONS = 256;

/** A connection asks for nothing, has not sent all of its request, or its body is being verified and written. */
type Stage = 'idle' | 'asking' | 'taken';

/** Those that may be closed for a new one, the least loss first. */
const LOSSES: readonly Stage[] = ['idle', 'asking'];

/**
 * Holds a server to a number of connections. To refuse new ones would let anybody who holds the old ones shut the sender
 * out, so a new one takes the place of an old one: never of one whose event is being written.
 */
export class Connections {
  /** In the order in which they came to their stages. */
  readonly #stages = new Map<Socket, Stage>();

  constructor(server: Server) {
    server.on('connection', (socket: Socket) => this.#admit(socket));
  }

  /** Records the stage of a connection. */
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
