/** A fast SMTP client for load: authenticated connections that send one message after another. */
import { connect, type TLSSocket } from 'node:tls'

/** An authenticated connection. */
export interface Sender {
  /** Sends one message, MAIL to DATA in one write; resolves with the reply to the final dot. */
  send(envelope: string, message: string): Promise<string>
  close(): void
}

/** Opens a connection to a port with implicit TLS and logs in. */
export async function openSender(port: number, username: string, password: string): Promise<Sender> {
  const socket: TLSSocket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
  socket.setNoDelay(true)
  let text = ''
  let wanted = 0
  const received: string[] = []
  let done: PromiseWithResolvers<string[]> | undefined
  /** The reason why there will be no further reply. */
  let ended: Error | undefined
  /** What comes while no call waits for it is kept for the next call. */
  const give = (count: number) => {
    done?.resolve(received.splice(0, count))
    done = undefined
  }
  const end = (error: Error) => {
    ended ??= error
    // A final reply in place of the expected ones counts as a reply, too; a reset can come after it.
    if (done && received.length > 0) give(received.length)
    done?.reject(ended)
    done = undefined
  }
  socket.on('data', chunk => {
    text += chunk.toString('latin1')
    for (let end = text.indexOf('\r\n'); end >= 0; end = text.indexOf('\r\n')) {
      const line = text.slice(0, end)
      text = text.slice(end + 2)
      if (line[3] !== '-') received.push(line)
    }
    if (done && received.length >= wanted) give(wanted)
  })
  socket.on('close', () => end(new Error('the server closed the connection')))
  socket.on('error', end)
  const replies = (count: number): Promise<string[]> => {
    const waiting = Promise.withResolvers<string[]>()
    if (received.length >= count || (ended && received.length > 0)) waiting.resolve(received.splice(0, count))
    else if (ended) waiting.reject(ended)
    else {
      wanted = count
      done = waiting
    }
    return waiting.promise
  }
  await replies(1)
  socket.write('EHLO bench.example\r\n')
  await replies(1)
  socket.write(`AUTH PLAIN ${Buffer.from(`\0${username}\0${password}`).toString('base64')}\r\n`)
  const [login = ''] = await replies(1)
  if (!login.startsWith('235')) throw new Error(login)
  return {
    async send(envelope, message) {
      socket.write(envelope)
      const answers = await replies(envelope.split('\r\n').length - 1)
      if (!answers.at(-1)?.startsWith('354')) return answers.find(answer => answer > '4') ?? ''
      socket.write(message)
      const [reply = ''] = await replies(1)
      return reply
    },
    close: () => socket.destroy(),
  }
}
