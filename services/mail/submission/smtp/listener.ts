/** The SMTP submission listeners: every port of SUBMISSION_LISTEN, one behaviour. */
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { SMTPServer } from 'smtp-server'
import { HOUR_MS } from '../../../platform/durations.ts'
import { newId } from '../../../platform/ids.ts'
import type { Log } from '../../../platform/observability/log.ts'
import type { Metrics } from '../../../platform/observability/metrics.ts'
import type { Config } from '../../../platform/process/config.ts'
import { type Entrance, type Origin, openEntrance } from './entrance.ts'
import { SubmissionConnection } from './listener-connection.ts'
import type { SessionLimits, SessionOptions } from './listener-session.ts'
import { Sessions } from './listener-sessions.ts'
import { createClients } from './open-connections.ts'
import { readTlsFiles, type TlsPair, watchTlsFiles } from './tls-files.ts'

/** Bounds that are no settings; times in milliseconds. */
export interface SubmissionLimits extends SessionLimits {
  /** For a PROXY header, and for a TLS handshake on a port with implicit TLS. */
  handshakeMs: number
  /** Silence of a client that owes us a command (RFC 5321 4.5.3.2.7 wants five minutes). */
  idleMs: number
  /** How long a stop waits for messages under way. */
  drainMs: number
}

/** The bounds of production; tests shorten them. */
const SUBMISSION_LIMITS: SubmissionLimits = {
  handshakeMs: 10_000,
  loginMs: 60_000,
  idleMs: 300_000,
  sessionMs: 4 * HOUR_MS,
  loginFailures: 3,
  bytesPerSecond: 256,
  dataWindowMs: 30_000,
  receivingBytes: Math.min(256 * 1024 * 1024, (process.constrainedMemory() || Number.POSITIVE_INFINITY) / 3),
  envelopeMs: 5_000,
  drainMs: 25_000,
}

/** Commands of a client that is not logged in: EHLO, STARTTLS, EHLO, AUTH and some errors. */
const COMMANDS_BEFORE_LOGIN = 15
/** RFC 4954 4 wants 12,288 octets for AUTH; everything else is far shorter. */
const COMMAND_OCTETS = 12_288

/** Dependencies of {@link listenForSubmission}. */
export interface ListenerOptions extends Omit<SessionOptions, 'limits' | 'maxMessageBytes'> {
  config: Pick<
    Config,
    | 'APP_HOST'
    | 'MAIL_HOSTNAME'
    | 'SUBMISSION_LISTEN'
    | 'SUBMISSION_PROXY_FROM'
    | 'SUBMISSION_TLS_CERT'
    | 'SUBMISSION_TLS_KEY'
    | 'SUBMISSION_MAX_CLIENTS'
    | 'SUBMISSION_MAX_CLIENTS_PER_ADDRESS'
    | 'MAX_MESSAGE_BYTES'
    | 'MAX_RECIPIENTS'
  >
  log: Log
  metrics: Pick<Metrics, 'smtpConnections'>
  limits?: Partial<SubmissionLimits>
  /** Called with the PEM chain that goes into service, at the start and on change. */
  onCertificate?: (pem: string) => void
}

/** Open listeners. */
export interface Listener {
  /** Bound ports in the order of SUBMISSION_LISTEN. */
  ports: number[]
  /** Stops accepting, finishes messages in flight, sends 421 to the others; bounded by `drainMs`. */
  stop(): Promise<void>
}

/** Binds every port. Rejects when there is no usable certificate or a port is taken. */
export async function listenForSubmission(options: ListenerOptions): Promise<Listener> {
  const { config, log, metrics } = options
  const limits = { ...SUBMISSION_LIMITS, ...options.limits }
  const { SUBMISSION_TLS_CERT: certPath, SUBMISSION_TLS_KEY: keyPath } = config
  if (!certPath || !keyPath)
    throw new Error(
      'SUBMISSION_TLS_CERT and SUBMISSION_TLS_KEY are missing: without a certificate no client can log in',
    )
  const pair = await readTlsFiles(certPath, keyPath)
  const sessions = new Sessions({ ...options, limits, maxMessageBytes: config.MAX_MESSAGE_BYTES })
  const servers = {
    starttls: createServer(config, limits, sessions, pair, false),
    tls: createServer(config, limits, sessions, pair, true),
  }
  for (const server of Object.values(servers))
    server.on('error', error => log.debug({ err: error }, 'submission connection failed'))
  const unwatch = watchTlsFiles(certPath, keyPath, log, changed => {
    for (const server of Object.values(servers)) server.updateSecureContext({ ...changed })
    options.onCertificate?.(changed.cert)
  })
  options.onCertificate?.(pair.cert)

  const admit = (server: SMTPServer, socket: Socket | TLSSocket, origin: Origin) => {
    const connection = new SubmissionConnection(server, socket, {
      id: newId('ss'),
      remoteAddress: origin.address,
      remotePort: origin.port,
    })
    server.connections.add(connection)
    connection.on('error', error => log.debug({ err: error, session: connection.id }, 'submission connection failed'))
    metrics.smtpConnections.inc()
    socket.once('close', () => metrics.smtpConnections.dec())
    sessions.open(connection)
    connection.init()
  }

  const clients = createClients(config.SUBMISSION_MAX_CLIENTS, config.SUBMISSION_MAX_CLIENTS_PER_ADDRESS)
  const entrances: Entrance[] = []
  const stopEntrances = () => Promise.all(entrances.map(entrance => entrance.stop()))
  try {
    for (const address of config.SUBMISSION_LISTEN) {
      const server = servers[address.mode]
      const entrance = await openEntrance(address, config.APP_HOST, {
        ...{ log, clients, proxies: config.SUBMISSION_PROXY_FROM, handshakeMs: limits.handshakeMs },
        setting: 'SUBMISSION_LISTEN',
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
      await Promise.all([sessions.drain(), closed])
      clearTimeout(cut)
    },
  }
}

function createServer(
  config: ListenerOptions['config'],
  limits: SubmissionLimits,
  sessions: Sessions,
  pair: TlsPair,
  secure: boolean,
): SMTPServer {
  return new SMTPServer({
    ...pair,
    ...sessions.handlers,
    secure,
    minVersion: 'TLSv1.2',
    name: config.MAIL_HOSTNAME,
    banner: 'Postwright',
    heloResponse: '%s',
    size: config.MAX_MESSAGE_BYTES,
    maxRecipients: config.MAX_RECIPIENTS,
    authMethods: ['PLAIN', 'LOGIN'],
    disabledCommands: ['WIZ', 'SHELL', 'KILL', 'XCLIENT', 'XFORWARD'],
    hideENHANCEDSTATUSCODES: false,
    hideDSN: false,
    disableReverseLookup: true,
    maxAllowedUnauthenticatedCommands: COMMANDS_BEFORE_LOGIN,
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
