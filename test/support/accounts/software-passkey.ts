/** A passkey in software: what a browser and its authenticator answer, with everything that a test may want wrong. */
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

/** What an answer says; each can be wrong. */
export interface PasskeyAnswer {
  challenge: string
  origin: string
  host: string
  /** The device has verified its user; default true. */
  isVerified?: boolean
  /** Default: one more than before. */
  counter?: number
  type?: string
  userHandle?: string
}

/** A passkey of one account. */
export interface SoftwarePasskey {
  id: string
  /** The body of a registration but for its name and challenge. */
  register(answer: PasskeyAnswer): { id: string; client_data: string; attestation: string; transports: string[] }
  /** The body of a login but for its challenge. */
  logIn(answer: PasskeyAnswer): {
    id: string
    client_data: string
    authenticator_data: string
    signature: string
    user_handle: string
  }
}

const FLAGS = { present: 0x01, verified: 0x04, hasCredential: 0x40 }

/** Makes a passkey for an account. `counts`: whether the device counts uses; many do not. */
export function softwarePasskey(userId: string, { counts = true } = {}): SoftwarePasskey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const credential = randomBytes(32)
  const id = credential.toString('base64url')
  // COSE_Key (RFC 9052, section 7): key type EC2, algorithm ES256, curve P-256, coordinates.
  const coordinates = [Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]
  const coseKey = Buffer.concat([
    Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01]),
    ...coordinates.flatMap((value, index) => [Buffer.from([index === 0 ? 0x21 : 0x22, 0x58, 0x20]), value]),
  ])
  let uses = 0
  const clientData = ({ challenge, origin, type }: PasskeyAnswer, usual: string) =>
    Buffer.from(JSON.stringify({ type: type ?? usual, challenge, origin, crossOrigin: false }))
  const authenticatorData = ({ host, isVerified = true, counter }: PasskeyAnswer, more = 0, rest = Buffer.alloc(0)) => {
    const count = Buffer.alloc(4)
    count.writeUInt32BE(counter ?? (counts ? ++uses : 0))
    const flags = FLAGS.present | (isVerified ? FLAGS.verified : 0) | more
    return Buffer.concat([createHash('sha256').update(host).digest(), Buffer.from([flags]), count, rest])
  }
  return {
    id,
    register(answer) {
      const length = Buffer.from([0, credential.length])
      const attested = Buffer.concat([Buffer.alloc(16), length, credential, coseKey])
      const data = authenticatorData(answer, FLAGS.hasCredential, attested)
      // {fmt: "none", attStmt: {}, authData: data} in CBOR.
      const attestation = Buffer.concat([
        Buffer.from([0xa3, 0x63]),
        Buffer.from('fmt'),
        Buffer.from([0x64]),
        Buffer.from('none'),
        Buffer.from([0x67]),
        Buffer.from('attStmt'),
        Buffer.from([0xa0, 0x68]),
        Buffer.from('authData'),
        Buffer.from([0x58, data.length]),
        data,
      ])
      return {
        id,
        client_data: clientData(answer, 'webauthn.create').toString('base64url'),
        attestation: attestation.toString('base64url'),
        transports: ['internal'],
      }
    },
    logIn(answer) {
      const [client, data] = [clientData(answer, 'webauthn.get'), authenticatorData(answer)]
      const signed = Buffer.concat([data, createHash('sha256').update(client).digest()])
      return {
        id,
        client_data: client.toString('base64url'),
        authenticator_data: data.toString('base64url'),
        signature: sign('sha256', signed, privateKey).toString('base64url'),
        user_handle: Buffer.from(answer.userHandle ?? userId).toString('base64url'),
      }
    },
  }
}
