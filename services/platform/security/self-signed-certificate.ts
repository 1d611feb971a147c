/**
 * Self-signed TLS certificates: for `npm start`, tests and the chart's first installation. ECDSA P-256, because its
 * handshakes cost a third less than RSA's.
 */
import { generate } from 'selfsigned'
import { DAY_MS } from '../durations.ts'

/** A certificate and its key, PEM. */
export interface Certificate {
  cert: string
  key: string
}

/** Creates a self-signed certificate for these host names and addresses, valid for `days`. */
export async function makeCertificate(hosts: readonly string[], days: number, now: Date): Promise<Certificate> {
  const [first = 'localhost'] = hosts
  const made = await generate([{ name: 'commonName', value: first }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notBeforeDate: new Date(now.getTime() - 60_000),
    notAfterDate: new Date(now.getTime() + days * DAY_MS),
    extensions: [
      // No authority: clients with rustls refuse the certificate of an authority as that of a server (RFC 5280 4.2.1.9).
      { name: 'basicConstraints', cA: false, critical: true },
      {
        name: 'subjectAltName',
        altNames: hosts.map(host =>
          /^[\d.]+$|:/.test(host) ? { type: 7 as const, ip: host } : { type: 2 as const, value: host },
        ),
      },
    ],
  })
  return { cert: made.cert, key: made.private }
}
