/** Signatures of Huawei's in-app purchases: a JWS whose certificate chain leads to the Huawei root. */
import { verify, X509Certificate } from 'node:crypto'
import { z } from 'zod'
import { NoticeRefused } from './notice.ts'

/** 1.3.6.1.4.1.2011.2.415.1.1 in DER: certificates without it are Huawei's, but not made for purchases. */
const LEAF_OID = Buffer.from('060c2b060104018f5b02831f0101', 'hex')

const header = z.object({ alg: z.literal('ES256'), x5c: z.array(z.string()).length(3) })

/** The payload of a JWS, believed. Throws {@link NoticeRefused}. */
export function openJws(jws: string, rootPem: string, now: Date): unknown {
  const [head = '', payload = '', signature = '', ...rest] = jws.split('.')
  if (rest.length > 0 || signature === '') throw new NoticeRefused('malformed', 'not a compact JWS')
  const parsed = header.safeParse(decode(head))
  if (!parsed.success) throw new NoticeRefused('forged', 'not ES256 with a chain of three')
  const leaf = trustedLeaf(parsed.data.x5c, rootPem, now)
  const fits = verify(
    'sha256',
    Buffer.from(`${head}.${payload}`),
    { key: leaf.publicKey, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  )
  if (!fits) throw new NoticeRefused('forged', 'the signature does not fit')
  return decode(payload)
}

/** The first certificate of a chain leaf, intermediate, root, when each is signed by the next and the last is ours. */
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

function decode(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
  } catch {
    throw new NoticeRefused('malformed', 'not JSON')
  }
}
