/** A receiving server that accepts everything and counts, as a separate process so that its CPU time is not the engine's. */
import { createServer } from 'node:net'

/** The sink's response to its parent. */
export interface SinkCounts {
  received: number
  /** Message-IDs that came more than once. */
  duplicates: number
  signed: number
  lastAt: number
}

const seen = new Set<string>()
const counts: SinkCounts = { received: 0, duplicates: 0, signed: 0, lastAt: 0 }

function take(message: string): void {
  const id = /^message-id: *(<[^>]*>)/im.exec(message)?.[1] ?? ''
  const rcpt = /^to: *(.*)$/im.exec(message)?.[1] ?? ''
  const key = `${id} ${rcpt}`
  if (seen.has(key)) counts.duplicates++
  else seen.add(key)
  counts.received++
  if (message.startsWith('DKIM-Signature:')) counts.signed++
  counts.lastAt = Date.now()
}

/** Replies to one chunk: to complete commands and messages; the rest waits for more bytes. */
class Conversation {
  #rest = ''
  #inData = false
  ended = false

  read(chunk: string): string {
    this.#rest += chunk
    let out = ''
    for (let reply = this.#next(); reply !== undefined; reply = this.#next()) out += reply
    return out
  }

  #next(): string | undefined {
    const mark = this.#inData ? '\r\n.\r\n' : '\r\n'
    const end = this.#rest.indexOf(mark)
    if (end === -1 || this.ended) return undefined
    const text = this.#rest.slice(0, end)
    this.#rest = this.#rest.slice(end + mark.length)
    if (!this.#inData) return this.#command(text.slice(0, 4).toUpperCase())
    this.#inData = false
    take(text)
    return '250 2.0.0 taken\r\n'
  }

  #command(verb: string): string {
    if (verb === 'EHLO') return '250-sink.test\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 ENHANCEDSTATUSCODES\r\n'
    this.#inData = verb === 'DATA'
    this.ended = verb === 'QUIT'
    if (this.ended) return '221 2.0.0 bye\r\n'
    return this.#inData ? '354 go on\r\n' : '250 2.0.0 ok\r\n'
  }
}

const server = createServer({ noDelay: true }, socket => {
  const conversation = new Conversation()
  socket.setEncoding('latin1')
  socket.on('error', () => undefined)
  socket.on('data', (chunk: string) => {
    const out = conversation.read(chunk)
    if (out) socket.write(out)
    if (conversation.ended) socket.end()
  })
  socket.write('220 sink.test ESMTP\r\n')
})

server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as { port: number }).port }))
process.on('message', () => process.send?.({ counts }))
process.on('disconnect', () => process.exit(0))
