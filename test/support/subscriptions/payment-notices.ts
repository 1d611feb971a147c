/** Notices of payment channels, signed with temporary keys; every part can be made wrong. */
import { createCipheriv, createSign, generateKeyPairSync, randomBytes, verify as verifySignature } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { signedText } from '../../../services/subscriptions/payments/channels/alipay.ts'
import { type Certified, certify, pemOf, signJws } from './certificate-chain.ts'

/** A notice, ready to send. */
export interface SentNotice {
  body: string
  headers: Record<string, string>
}

const rsa = () => generateKeyPairSync('rsa', { modulusLength: 2048 })
const pem = (key: { export(options: { type: 'spki'; format: 'pem' }): string | Buffer }) =>
  String(key.export({ type: 'spki', format: 'pem' }))

/** Alipay with its own key pair. */
export function fakeAlipay() {
  const { publicKey, privateKey } = rsa()
  return {
    settings: { app_id: 'ali-app', seller_id: '2088', alipay_public_key: pem(publicKey) },
    /** A signed form; `tamper` changes fields after signing, `repeated` adds fields a second time before it. */
    notice(
      fields: Record<string, string>,
      tamper: Record<string, string> = {},
      repeated: Record<string, string> = {},
    ): SentNotice {
      const form = new URLSearchParams({
        app_id: 'ali-app',
        seller_id: '2088',
        notify_id: randomBytes(8).toString('hex'),
        charset: 'utf-8',
        trade_status: 'TRADE_SUCCESS',
        gmt_payment: '2026-11-21 18:00:00',
        ...fields,
        sign_type: 'RSA2',
      })
      for (const [name, value] of Object.entries(repeated)) form.append(name, value)
      form.set('sign', createSign('RSA-SHA256').update(signedText(form)).sign(privateKey, 'base64'))
      for (const [name, value] of Object.entries(tamper)) form.set(name, value)
      return { body: form.toString(), headers: { 'content-type': 'application/x-www-form-urlencoded' } }
    },
  }
}

/** WeChat Pay with its own key pair. */
export function fakeWechat() {
  const { publicKey, privateKey } = rsa()
  const apiKey = randomBytes(16).toString('hex')
  return {
    settings: { mchid: '1900', appid: 'wx-app', serial: 'S1', public_key: pem(publicKey), api_v3_key: apiKey },
    /** A signed and encrypted notice; `at` is Unix seconds. */
    notice(
      at: number,
      resource: object,
      change: { id?: string; type?: string; serial?: string; tamper?: string } = {},
    ) {
      const nonce = randomBytes(6).toString('hex')
      const cipher = createCipheriv('aes-256-gcm', apiKey, nonce)
      cipher.setAAD(Buffer.from('transaction'))
      const sealed = Buffer.concat([cipher.update(JSON.stringify(resource)), cipher.final(), cipher.getAuthTag()])
      const body = JSON.stringify({
        id: change.id ?? randomBytes(8).toString('hex'),
        event_type: change.type ?? 'TRANSACTION.SUCCESS',
        resource: {
          algorithm: 'AEAD_AES_256_GCM',
          ciphertext: sealed.toString('base64'),
          nonce,
          associated_data: 'transaction',
        },
      })
      const text = `${at}\nn0nce\n${body}\n`
      return {
        body: body + (change.tamper ?? ''),
        headers: {
          'content-type': 'application/json',
          'wechatpay-serial': change.serial ?? 'S1',
          'wechatpay-timestamp': String(at),
          'wechatpay-nonce': 'n0nce',
          'wechatpay-signature': createSign('RSA-SHA256').update(text).sign(privateKey, 'base64'),
        },
      }
    },
  }
}

const LEAF_OID = '060c2b060104018f5b02831f0101'

/** Huawei with its own root, and a strict server for the status of purchases. */
export async function fakeHuawei() {
  const root = certify({ name: 'Root', ca: true })
  const intermediate = certify({ name: 'Intermediate', issuer: root, ca: true })
  const leaf = certify({ name: 'Leaf', issuer: intermediate, ca: false, markOid: LEAF_OID })
  const chain: [Certified, ...Certified[]] = [leaf, intermediate, root]
  const api = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const statuses = new Map<string, object>()
  const confirmed: string[] = []
  let requestCount = 0
  const server = createServer((request, response) => {
    requestCount++
    let body = ''
    request.setEncoding('utf8').on('data', chunk => {
      body += chunk
    })
    request.on('end', () => {
      const answer = (fields: object) => response.end(JSON.stringify({ responseCode: '0', ...fields }))
      const [head = '', claims = '', signature = ''] = (request.headers.authorization ?? '').slice(7).split('.')
      const key = { key: api.publicKey, dsaEncoding: 'ieee-p1363' as const }
      if (!verifySignature('sha256', Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, 'base64url')))
        return response.writeHead(401).end('{}')
      const { purchaseToken, purchaseOrderId } = JSON.parse(body)
      if (request.url === '/subscription/harmony/v1/application/purchase/shipped/confirm') {
        confirmed.push(purchaseOrderId)
        return answer({})
      }
      const status = statuses.get(purchaseToken)
      if (request.url !== '/subscription/harmony/v1/application/subscription/status/query' || !status)
        return response.writeHead(404).end('{}')
      return answer({ jwsSubGroupStatus: signJws({ applicationId: 'hw-app', lastSubscriptionStatus: status }, chain) })
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    settings: {
      application_id: 'hw-app',
      issuer_id: 'issuer',
      key_id: 'kid',
      root_certificate: pemOf(root),
      private_key: String(api.privateKey.export({ type: 'pkcs8', format: 'pem' })),
      api_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    },
    root,
    intermediate,
    leaf,
    statuses,
    confirmed,
    /** Number of requests. */
    requestCount: () => requestCount,
    /** A notice about a purchase. */
    notice(type: string, subtype: string, about: object, signers: [Certified, ...Certified[]] = chain): SentNotice {
      const payload = {
        notificationType: type,
        notificationSubtype: subtype,
        notificationRequestId: randomBytes(8).toString('hex'),
        notificationVersion: 'v3',
        notificationMetaData: { environment: 'NORMAL', applicationId: 'hw-app', ...about },
      }
      return {
        body: JSON.stringify({ jwsNotification: signJws(payload, signers) }),
        headers: { 'content-type': 'application/json' },
      }
    },
    stop: () => closed(server),
  }
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise(resolve => server.close(() => resolve()))
}
