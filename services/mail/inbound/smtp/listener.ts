/** The listeners of INBOUND_LISTEN: they take reports from any server, for addresses that we made only (ADR 88). */
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { SMTPServer } from 'smtp-server'
import { createMemoryBudget } from '../../../platform/concurrency/memory-budget.ts'
import { newId } from '../../../platform/ids.ts'
import type { Log } from '../../../platform/observability/log.ts'
import type { Metrics } from '../../../platform/observability/metrics.ts'
import type { Config } from '../../../platform/process/config.ts'
import { type Entrance, type Origin, openEntrance } from '../../submission/smtp/entrance.ts'
import type { Listener } from '../../submission/smtp/listener.ts'
import { SubmissionConnection } from '../../submission/smtp/listener-connection.ts'
import { createClients } from '../../submission/smtp/open-connections.ts'
import { expiryOf, readTlsFiles, type TlsPair, watchTlsFiles } from '../../submission/smtp/tls-files.ts'
import { type InboundLimits, type InboundOptions, InboundSession } from './session.ts'

/** Bounds that are no settings; times in milliseconds. */
export interface ListenerLimits extends InboundLimits {
  /** Open connections, of all clients and of one address. */
  clients: number
  clientsPerAddress: number
  /** Memory for messages that come in, over all connections; one address gets half of it at most. */
  receivingBytes: number
  /** For a PROXY header, and for a TLS handshake on a port with implicit TLS. */
  handshakeMs: number
  idleMs: number
  /** How long a stop waits for messages under way. */
  drainMs: number
}

const MIB = 1024 * 1024

/** The bounds of production; tests shorten them. */
const INBOUND_LIMITS: ListenerLimits = {
  messageBytes: 10 * MIB,
  messages: 100,
  refusals: 20,
  sessionMs: 15 * 60_000,
  bytesPerSecond: 256,
  dataWindowMs: 30_000,
  clients: 500,
  clientsPerAddress: 20,
  receivingBytes: 64 * MIB,
  handshakeMs: 10_000,
  idleMs: 120_000,
  drainMs: 25_000,
}
/** A report has one recipient; mail to several is rare. */
const MAX_RECIPIENTS = 10
const COMMAND_OCTETS = 4_096

/** Dependencies of {@link listenForReports}. */
export interface InboundListenerOptions extends Omit<InboundOptions, 'limits' | 'budget' | 'metrics'> {
  config: Pick<
    Config,
    | 'APP_HOST'
    | 'BOUNCE_DOMAIN'
    | 'INBOUND_LISTEN'
    | 'MAIL_HOSTNAME'
    | 'SUBMISSION_PROXY_FROM'
    | 'SUBMISSION_TLS_CERT'
    | 'SUBMISSION_TLS_KEY'
  >
  log: Log
  metrics: Pick<Metrics, 'inboundRefused' | 'inboundConnections' | 'certificateExpiry'>
  limits?: Partial<ListenerLimits>
}

/** Binds every port. Rejects when a port is taken, or the TLS files cannot be used. */
export async function listenForReports(options: InboundListenerOptions): Promise<Listener> {
  const { config, log, metrics } = options
  const limits = { ...INBOUND_LIMITS, ...options.limits }
  const { SUBMISSION_TLS_CERT: certPath, SUBMISSION_TLS_KEY: keyPath } = config
  const pair = certPath && keyPath ? await readTlsFiles(certPath, keyPath) : undefined
  if (!pair && config.INBOUND_LISTEN.some(({ mode }) => mode === 'tls'))
    throw new Error('INBOUND_LISTEN has a port with TLS, and SUBMISSION_TLS_CERT and SUBMISSION_TLS_KEY are missing')
  const sessions = new InboundSessions({ ...options, limits, budget: createMemoryBudget(limits.receivingBytes) })
  const servers = {
    starttls: createServer(config, limits, sessions, pair, false),
    tls: createServer(config, limits, sessions, pair, true),
  }
  for (const server of Object.values(servers))
    server.on('error', error => log.debug({ err: error }, 'inbound connection failed'))
  const unwatch =
    certPath && keyPath
      ? watchTlsFiles(certPath, keyPath, log, changed => {
          for (const server of Object.values(servers)) server.updateSecureContext({ ...changed })
          metrics.certificateExpiry.set({ use: 'inbound' }, expiryOf(changed.cert))
        })
      : () => undefined

  if (pair) metrics.certificateExpiry.set({ use: 'inbound' }, expiryOf(pair.cert))

  const admit = (server: SMTPServer, socket: Socket | TLSSocket, origin: Origin) => {
    const connection = new SubmissionConnection(server, socket, {
      id: newId('is'),
      remoteAddress: origin.address,
      remotePort: origin.port,
    })
    server.connections.add(connection)
    connection.on('error', error => log.debug({ err: error, session: connection.id }, 'inbound connection failed'))
    metrics.inboundConnections.inc()
    socket.once('close', () => metrics.inboundConnections.dec())
    sessions.open(connection)
    connection.init()
  }

  const clients = createClients(limits.clients, limits.clientsPerAddress)
  const entrances: Entrance[] = []
  const stopEntrances = () => Promise.all(entrances.map(entrance => entrance.stop()))
  try {
    for (const address of config.INBOUND_LISTEN) {
      const server = servers[address.mode]
      const entrance = await openEntrance(address, config.APP_HOST, {
        ...{ log, clients, proxies: config.SUBMISSION_PROXY_FROM, handshakeMs: limits.handshakeMs },
        setting: 'INBOUND_LISTEN',
        secureContext: () => contextOf(server),
        admit: (socket, origin) => admit(server, socket, origin),
      })
      entrances.push(entrance)
    }
  } catch (error) {
    unwatch()
    await stopEntrances()
    throw error
  }
  return {
    ports: entrances.map(({ port }) => port),
    async stop() {
      unwatch()
      const closed = stopEntrances()
      const cut = setTimeout(() => {
        for (const entrance of entrances) entrance.cut()
      }, limits.drainMs)
      sessions.drain()
      await closed
      clearTimeout(cut)
    },
  }
}

/** The sessions of a process, as handlers for the library. */
class InboundSessions {
  readonly #options: InboundOptions
  readonly #sessions = new Map<string, InboundSession>()
  #isDraining = false

  constructor(options: InboundOptions) {
    this.#options = options
  }

  open(connection: SubmissionConnection): void {
    const session = new InboundSession(connection, this.#options)
    this.#sessions.set(connection.id, session)
    if (this.#isDraining) session.end('unavailable')
  }

  drain(): void {
    this.#isDraining = true
    for (const session of this.#sessions.values()) session.end('unavailable')
  }

  get handlers(): ConstructorParameters<typeof SMTPServer>[0] {
    return {
      onMailFrom: (_sender, { id }, done) => done(this.#of(id).begin() ?? null),
      onRcptTo: (recipient, { id }, done) => {
        const session = this.#of(id)
        void session.addRecipient(recipient).then(refusal => {
          done(refusal ?? null)
          session.answered('rcpt')
        })
      },
      onData: (stream, { id, envelope }, done) => {
        const session = this.#of(id)
        const from = envelope.mailFrom ? envelope.mailFrom.address : ''
        void session.take(stream, from).then(answer => {
          if (answer && 'id' in answer) done(null, `2.0.0 accepted as ${answer.id}`)
          else if (answer) done(answer)
          session.answered('data')
        })
      },
      onClose: ({ id }) => {
        const session = this.#sessions.get(id)
        this.#sessions.delete(id)
        if (session) this.#options.log.info(session.close(), 'inbound session closed')
      },
    }
  }

  #of(id: string): InboundSession {
    const session = this.#sessions.get(id)
    if (!session) throw new Error('a session that is not open')
    return session
  }
}

function createServer(
  config: InboundListenerOptions['config'],
  limits: ListenerLimits,
  sessions: InboundSessions,
  pair: TlsPair | undefined,
  secure: boolean,
): SMTPServer {
  return new SMTPServer({
    ...pair,
    ...sessions.handlers,
    secure,
    minVersion: 'TLSv1.2',
    name: config.BOUNCE_DOMAIN ?? config.MAIL_HOSTNAME,
    banner: 'Postwright',
    heloResponse: '%s',
    size: limits.messageBytes,
    maxRecipients: MAX_RECIPIENTS,
    authOptional: true,
    disabledCommands: [...(pair ? [] : ['STARTTLS']), 'AUTH', 'WIZ', 'SHELL', 'KILL', 'XCLIENT', 'XFORWARD'],
    hideENHANCEDSTATUSCODES: false,
    disableReverseLookup: true,
    maxCommandLength: COMMAND_OCTETS,
    socketTimeout: limits.idleMs,
    logger: false,
  })
}

function contextOf(server: SMTPServer) {
  const context = server.secureContext.get('*')
  if (!context) throw new Error('the server has no TLS context')
  return context
}
