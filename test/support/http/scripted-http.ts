/** An HTTP server that gives prepared answers, and keeps the requests. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { listen } from '../../../services/platform/network/listen.ts'

/** One answer; a function writes it itself, or never does. */
export type ScriptedAnswer =
  | { status: number; headers?: Record<string, string>; body?: string | object }
  | ((response: ServerResponse) => void)

/** A request as it arrived. */
export interface ReceivedRequest {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
}

/** Closes the connection without an answer. */
export const reset: ScriptedAnswer = response => void response.socket?.destroy()

/** Never answers. */
export const silence: ScriptedAnswer = () => undefined

/** Serves these answers in turn, the last one again and again, until the test ends. */
export async function scriptedHttp(...answers: [ScriptedAnswer, ...ScriptedAnswer[]]) {
  const requests: ReceivedRequest[] = []
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request
    requests.push({ method, path, headers, body: await text(request) })
    const answer = answers[Math.min(requests.length, answers.length) - 1] ?? silence
    if (typeof answer === 'function') return answer(response)
    const { status, body = '' } = answer
    response.writeHead(status, { 'content-type': 'application/json', ...answer.headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  const port = await listen(server, 0, '127.0.0.1', 'PORT')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${port}`, requests }
}
