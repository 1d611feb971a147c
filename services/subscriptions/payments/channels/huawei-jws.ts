/** Signatures of Huawei's in-app purchases: a JWS whose certificate chain ends at the Huawei root. */
import { X509Certificate } from 'node:crypto'
import { z } from 'zod'
import { NoticeRefused } from './notice.ts'

/** 1.3.6.1.4.1.2011.2.415.1.1 in DER: certificates without it are Huawei's, but not for purchases. */
const LEAF_OID = Buffer.from('060c2b060104018f5b02831f0101', 'hex')

const header = z.object({ alg: z.literal('ES256'), x5c: z.array(z.string()).length(3) })

/** The payload of a JWS whose signature and certificate chain are valid at `now`. Rejects with {@link NoticeRefused}. */
export async function openJws(jws: string, rootPem: string, now: Date): Promise<unknown> {
  const parsed = header.safeParse(await headerOf(jws))
  if (!parsed.success) throw new NoticeRefused('forged', 'not ES256 with a chain of three')
  const leaf = trustedLeaf(parsed.data.x5c, rootPem, now)
  return payloadOf(await verified(jws, leaf))
}

async function headerOf(jws: string): Promise<unknown> {
  const { decodeProtectedHeader } = await import('jose')
  try {
    return decodeProtectedHeader(jws)
  } catch {
    throw new NoticeRefused('malformed', 'not a compact JWS')
  }
}

async function verified(jws: string, { publicKey }: X509Certificate): Promise<Uint8Array> {
  const { compactVerify, errors } = await import('jose')
  try {
    return (await compactVerify(jws, publicKey, { algorithms: ['ES256'] })).payload
  } catch (error) {
    if (error instanceof errors.JWSInvalid) throw new NoticeRefused('malformed', 'not a compact JWS')
    // Includes a key on another curve than P-256 and a critical header field that jose does not support.
    throw new NoticeRefused('forged', 'the signature does not fit')
  }
}

/**
 * The leaf of a chain leaf, intermediate, root, when each is signed by the next and the last is the configured root.
 */
function trustedLeaf(chain: readonly string[], rootPem: string, now: Date): X509Certificate {
  const [leaf, intermediate, root] = chain.map(certificate)
  const trusted = new X509Certificate(rootPem)
  if (!leaf || !intermediate || root?.fingerprint256 !== trusted.fingerprint256)
    throw new NoticeRefused('forged', 'the chain does not lead to the Huawei root')
  const signed =
    leaf.checkIssued(intermediate) &&
    leaf.verify(intermediate.publicKey) &&
    intermediate.ca &&
    intermediate.checkIssued(trusted) &&
    intermediate.verify(trusted.publicKey)
  if (!signed) throw new NoticeRefused('forged', 'the chain is not signed')
  const valid = [leaf, intermediate, trusted].every(
    known => new Date(known.validFrom) <= now && now <= new Date(known.validTo),
  )
  if (!valid) throw new NoticeRefused('forged', 'a certificate is not valid now')
  if (!leaf.raw.includes(LEAF_OID)) throw new NoticeRefused('forged', 'the certificate is not made for purchases')
  return leaf
}

function certificate(base64: string): X509Certificate {
  try {
    return new X509Certificate(Buffer.from(base64, 'base64'))
  } catch {
    throw new NoticeRefused('malformed', 'not a certificate')
  }
}

function payloadOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'))
  } catch {
    throw new NoticeRefused('malformed', 'not JSON')
  }
}
