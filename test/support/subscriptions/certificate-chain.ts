/** Temporary certificate chains with P-256 keys, encoded in DER directly, so that single fields can be wrong. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

/** A certificate with its key. */
export interface Certified {
  name: string
  der: Buffer
  privateKey: KeyObject
}

/** The fields of a certificate. */
export interface CertificateRequest {
  name: string
  /** Self-signed if absent. */
  issuer?: Certified
  ca: boolean
  /** Extension that marks a leaf for purchases, in hex. */
  markOid?: string
  notAfter?: Date
}

const tlv = (tag: number, ...parts: Buffer[]): Buffer => {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}
const sequence = (...parts: Buffer[]) => tlv(0x30, ...parts)
const hex = (text: string) => Buffer.from(text, 'hex')

const ECDSA_SHA256 = sequence(hex('06082a8648ce3d040302'))
const COMMON_NAME = hex('0603550403')
const BASIC_CONSTRAINTS = hex('0603551d13')

const nameOf = (common: string) => sequence(tlv(0x31, sequence(COMMON_NAME, tlv(0x0c, Buffer.from(common)))))
const time = (at: Date) => tlv(0x18, Buffer.from(`${at.toISOString().replaceAll(/[-:T]|\.\d+/g, '')}`))

/** Creates a certificate. */
export function certify({ name, issuer, ca, markOid, notAfter }: CertificateRequest): Certified {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const critical = tlv(0x01, hex('ff'))
  const constraints = sequence(BASIC_CONSTRAINTS, critical, tlv(0x04, sequence(...(ca ? [critical] : []))))
  const mark = markOid === undefined ? [] : [sequence(hex(markOid), tlv(0x04, hex('0500')))]
  const body = sequence(
    tlv(0xa0, hex('020102')),
    tlv(0x02, hex('01')),
    ECDSA_SHA256,
    nameOf(issuer?.name ?? name),
    sequence(time(new Date('2020-01-01T00:00:00Z')), time(notAfter ?? new Date('2040-01-01T00:00:00Z'))),
    nameOf(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, sequence(constraints, ...mark)),
  )
  const signature = sign('sha256', body, issuer?.privateKey ?? privateKey)
  return { name, der: sequence(body, ECDSA_SHA256, tlv(0x03, hex('00'), signature)), privateKey }
}

/** The certificate as PEM. */
export function pemOf({ der }: Certified): string {
  return `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`
}

/** A compact JWS (ES256) with the chain in its header. */
export function signJws(payload: object, [leaf, ...rest]: [Certified, ...Certified[]]): string {
  const x5c = [leaf, ...rest].map(({ der }) => der.toString('base64'))
  const text = [{ alg: 'ES256', typ: 'JWT', x5c }, payload]
    .map(part => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  const signature = sign('sha256', Buffer.from(text), { key: leaf.privateKey, dsaEncoding: 'ieee-p1363' })
  return `${text}.${signature.toString('base64url')}`
}
