/** A receiver of webhooks that verifies requests with the published package, and answers as a test wants. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { onTestFinished } from 'vitest'

/** A request whose signature was verified. */
export interface ReceivedEvent {
  id: string
  path: string
  type: string
  timestamp: string
  data: Record<string, unknown>
  headers: IncomingMessage['headers']
  /** As it was sent. */
  body: string
}

/** Answers a verified request; the default is 204. */
export type Reply = (response: ServerResponse, event: ReceivedEvent) => void

/** A receiver, stopped with the test. */
export interface WebhookReceiver {
  url: string
  received: ReceivedEvent[]
  /** Requests whose signature no secret of the receiver verifies. */
  forged: number
  /** Those that are accepted; none: requests are not verified. */
  secrets: string[]
  reply: Reply
  /** Resolves once so many events were received. */
  heard(count: number): Promise<ReceivedEvent[]>
  stop(): Promise<void>
}

const accept: Reply = response => void response.writeHead(204).end()

/** Starts a receiver on this machine. */
export async function startWebhookReceiver(reply: Reply = accept): Promise<WebhookReceiver> {
  const waiting = new Set<() => void>()
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    const headers = request.headers as Record<string, string>
    const isGood = receiver.secrets.length === 0 || receiver.secrets.some(secret => verifies(secret, body, headers))
    if (!isGood) {
      receiver.forged++
      return response.writeHead(401).end()
    }
    const event = { ...JSON.parse(body), id: headers['webhook-id'], path: request.url, headers, body }
    receiver.received.push(event)
    for (const check of waiting) check()
    return receiver.reply(response, event)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    ...{ received: [], forged: 0, secrets: [], reply },
    async heard(count) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const check = () => receiver.received.length >= count && resolve()
      waiting.add(check)
      check()
      await promise
      waiting.delete(check)
      return receiver.received
    },
    async stop() {
      server.closeAllConnections()
      if (server.listening) await once(server.close(), 'close')
    },
  }
  onTestFinished(() => receiver.stop())
  return receiver
}

function verifies(secret: string, body: string, headers: Record<string, string>): boolean {
  try {
    new Webhook(secret).verify(body, headers)
    return true
  } catch {
    return false
  }
}
