/** The API in the format of Resend for tests: a started service on a port of its own, and an account that sends. */
import type { UserDoc } from '../../../services/accounts/store/users.ts'
import { compat } from '../../../services/compat.ts'
import type { TokenDoc } from '../../../services/mail/credentials/store/tokens.ts'
import { SCOPES } from '../../../services/mail/http/shared/access.ts'
import { readBody } from '../../../services/mail/store/bodies.ts'
import { MESSAGES } from '../../../services/mail/store/messages.ts'
import { collectionOf, type Db } from '../../../services/platform/database/mongo.ts'
import type { Foundation } from '../../../services/platform/process/run.ts'
import { giveDomain, giveToken, giveUser } from '../accounts/accounts-and-domains.ts'
import { freshDatabase } from '../database/test-database.ts'
import { testFoundation } from '../processes/test-foundation.ts'

/** An error as the API answers it. */
export interface ForeignAnswer {
  status: number
  headers: Headers
  body: Record<string, unknown>
}

/** A started service with one account, which has the verified domain `sender.example`. */
export interface CompatApi {
  url: string
  db: Db
  foundation: Foundation
  user: UserDoc
  /** Value of a token with every scope. */
  key: string
  /** Value of a new token of the account, or of another one. */
  keyWith(change: Partial<TokenDoc>, user?: UserDoc): Promise<string>
  /** Another account with a verified domain `<name>.example`. */
  newAccount(name: string): Promise<UserDoc>
  /** Sends a request with the token (or without one for `''`) and reads the JSON answer. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ForeignAnswer>
  /** The bytes of an accepted message as text. */
  rawOf(id: string): Promise<string>
  stop(): Promise<void>
}

/** Starts the service without rate limits, with these settings. */
export async function startCompatApi(env: Record<string, string> = {}): Promise<CompatApi> {
  const mongo = await freshDatabase()
  const foundation = testFoundation(mongo, {
    ...{ SEND_REQUESTS_PER_SECOND: '0', API_REQUESTS_PER_MINUTE: '0', WEBHOOK_ALLOW_PRIVATE: 'true' },
    ...env,
  })
  const running = await compat(foundation)
  const { db } = mongo
  const url = `http://127.0.0.1:${running.port}`
  const newAccount = async (name: string) => {
    const user = await giveUser(db)
    await giveDomain(db, user._id, `${name}.example`, { status: 'verified', verified_by: 'dns' })
    return user
  }
  const user = await newAccount('sender')
  const keyWith = async (change: Partial<TokenDoc>, owner = user) => (await giveToken(db, owner._id, change)).value
  const key = await keyWith({ scopes: [...SCOPES] })
  return {
    ...{ url, db, foundation, user, key, keyWith, newAccount },
    async call(method, path, body, headers = {}) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      return {
        status: response.status,
        headers: response.headers,
        body: (await response.json()) as Record<string, unknown>,
      }
    },
    async rawOf(id) {
      const message = await collectionOf(db, MESSAGES).findOne({ _id: id })
      return String(message && (await readBody(mongo, id, message.parts)))
    },
    async stop() {
      await running.stop()
      await mongo.stop()
    },
  }
}
