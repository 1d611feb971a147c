/** Keeps the self-signed certificate of an installation: made once, and again when it does not cover a host name any more. */
import { X509Certificate } from 'node:crypto'
import { DAY_MS } from '../../services/platform/durations.ts'
import { makeCertificate } from '../../services/platform/security/self-signed-certificate.ts'
import type { KubeClient } from '../kube/client.ts'
import type { KubeObject } from '../kube/object-cache.ts'
import { type ObjectId, secretsPath } from '../kube/object-paths.ts'
import { createSecretOnce } from './create-secret.ts'

/** Validity of a new certificate, and what is left of it when it is replaced. */
const VALID_DAYS = 825
const RENEW_DAYS = 60

/** `foreign`: a certificate of another issuer lacks host names; it is not changed. */
export type KeptCertificate =
  | { state: 'created' | 'kept' }
  | { state: 'renewed'; reason: 'hosts' | 'expiry' }
  | { state: 'foreign'; uncovered: string[] }

type TlsSecret = KubeObject & { data?: Record<string, string> }

/**
 * Creates the Secret, or replaces the certificate in it when it does not cover the first host name, or expires. One that is not
 * self-signed is never replaced. Throws {@link KubeError}, also when the Secret changes in parallel.
 */
export async function keepCertificate(
  client: KubeClient,
  id: ObjectId,
  hosts: readonly string[],
  now: Date,
): Promise<KeptCertificate> {
  const { cert, key } = await makeCertificate(hosts, VALID_DAYS, now)
  const content = { 'tls.crt': cert, 'tls.key': key }
  const { created } = await createSecretOnce(client, id, 'kubernetes.io/tls', content)
  if (created) return { state: 'created' }
  const path = `${secretsPath(id.namespace)}/${id.name}`
  const existing = await client.request<TlsSecret>({ method: 'GET', path })
  const current = certificateIn(existing)
  const uncovered = current ? hosts.filter(host => !current.checkHost(host)) : [...hosts]
  const expires = current ? Date.parse(current.validTo) - now.getTime() < RENEW_DAYS * DAY_MS : true
  if (current && !isSelfSigned(current))
    return uncovered.length > 0 ? { state: 'foreign', uncovered } : { state: 'kept' }
  // The public name is what users change; a certificate of their own may lack the names of Services.
  const [main = ''] = hosts
  if (!uncovered.includes(main) && !expires) return { state: 'kept' }
  const data = Object.fromEntries(Object.entries(content).map(([name, text]) => [name, toBase64(text)]))
  // With its resourceVersion: of two parallel Jobs one fails and is repeated.
  await client.request({ method: 'PUT', path, body: { ...existing, data } })
  return { state: 'renewed', reason: uncovered.includes(main) ? 'hosts' : 'expiry' }
}

function certificateIn({ data }: TlsSecret): X509Certificate | undefined {
  try {
    return new X509Certificate(Buffer.from(data?.['tls.crt'] ?? '', 'base64'))
  } catch {
    return undefined
  }
}

function isSelfSigned(certificate: X509Certificate): boolean {
  return certificate.verify(certificate.publicKey)
}

function toBase64(text: string): string {
  return Buffer.from(text).toString('base64')
}
