/** A name server for tests that answers NXDOMAIN to every question after a delay and records the questions. */
import { createSocket } from 'node:dgram'
import * as packet from 'dns-packet'

/** Settings of a process that sends it all questions. */
export interface DnsStub {
  /** Names of the questions, in order. */
  env: Record<string, string>
  /** Queried names, in order. */
  queries: string[]
  stop(): Promise<void>
}

/** Starts it; `delayMs` is the delay of an answer (milliseconds). */
export async function startDnsStub(delayMs = 0): Promise<DnsStub> {
  const socket = createSocket('udp4')
  const queries: string[] = []
  let open = true
  socket.on('message', (query, client) => {
    const { id, questions } = packet.decode(query)
    queries.push(questions?.[0]?.name.toLowerCase() ?? '')
    const answer = packet.encode({
      type: 'response',
      ...(id !== undefined && { id }),
      ...(questions && { questions }),
      flags: packet.AUTHORITATIVE_ANSWER | 3, // NXDOMAIN
    })
    setTimeout(() => open && socket.send(answer, client.port, client.address), delayMs)
  })
  await new Promise<void>(resolve => socket.bind(0, '127.0.0.1', resolve))
  const { port } = socket.address()
  return {
    env: { DNS_SERVERS: `127.0.0.1:${port}`, DNS_PORT: String(port), DNS_ALLOW_PRIVATE: 'true' },
    queries,
    stop() {
      open = false
      return new Promise(resolve => socket.close(() => resolve()))
    },
  }
}
