/** A real HTTPS server on the loopback that takes TLS reports and answers as a test wants. */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { onTestFinished } from 'vitest'
import { makeCertificate } from '../../../services/platform/security/self-signed-certificate.ts'

/** A report that was posted. */
export interface PostedReport {
  path: string | undefined
  headers: IncomingMessage['headers']
  file: Buffer
  document: { 'report-id': string; [field: string]: unknown }
}

/** A receiver, stopped with the test. */
export interface TlsReportReceiver {
  url: string
  /** PEM of its certificate. */
  ca: string
  posted: PostedReport[]
  /** Status of the next answers; the location is that of a redirect. */
  answer: { status: number; location?: string }
}

/** Starts a receiver. */
export async function startTlsReportReceiver(): Promise<TlsReportReceiver> {
  const { cert, key } = await makeCertificate(['127.0.0.1'], 1, new Date())
  const posted: PostedReport[] = []
  const answer: TlsReportReceiver['answer'] = { status: 201 }
  const server = createServer({ cert, key }, async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const file = Buffer.concat(chunks)
    posted.push({
      ...{ path: request.url, headers: request.headers, file },
      document: JSON.parse(gunzipSync(file).toString()),
    })
    response.writeHead(answer.status, answer.location === undefined ? {} : { location: answer.location }).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, ca: cert, posted, answer }
}
