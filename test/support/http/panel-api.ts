/** The panel process for tests, and clients with sessions and tokens. */
import * as accountsContract from '../../../services/accounts/http/accounts-contract.ts'
import { openSession } from '../../../services/accounts/login-sessions.ts'
import type { UserDoc } from '../../../services/accounts/store/users.ts'
import * as mailContract from '../../../services/mail/http/contract.ts'
import { panel } from '../../../services/panel.ts'
import type { Clock } from '../../../services/platform/clock.ts'
import type { Db, Mongo } from '../../../services/platform/database/mongo.ts'
import type { AnyEndpoint } from '../../../services/platform/http/endpoint.ts'
import { operationsOf } from '../../../services/platform/http/openapi.ts'
import type { Secrets } from '../../../services/platform/security/secrets.ts'
import { giveToken, giveUser } from '../accounts/accounts-and-domains.ts'
import { freshDatabase } from '../database/test-database.ts'
import { testFoundation } from '../processes/test-foundation.ts'
import { type ApiClient, apiClient } from './api-client.ts'

/** Every operation that the mail API declares. */
export const MAIL_OPERATIONS: readonly AnyEndpoint[] = [
  ...operationsOf(accountsContract),
  ...operationsOf(mailContract),
]

/** A running panel with a database of its own. */
export interface PanelApi {
  url: string
  mongo: Mongo
  db: Db
  secrets: Secrets
  anonymous: ApiClient
  /** A client with an open session of the user, in the account of another one if given; sends the CSRF header. */
  as(user: UserDoc, accountId?: string): Promise<ApiClient>
  /** A new account with its client. */
  newUser(change?: Partial<UserDoc>): Promise<{ user: UserDoc; client: ApiClient }>
  /** A client with a new token of the account. */
  withToken(user: UserDoc, change?: Parameters<typeof giveToken>[2]): Promise<ApiClient>
  stop(): Promise<void>
}

/** Starts the panel with these settings, without rate limits. */
export async function startPanelApi(env: Record<string, string> = {}, clock?: Clock): Promise<PanelApi> {
  const mongo = await freshDatabase()
  const foundation = testFoundation(
    mongo,
    { SEND_REQUESTS_PER_SECOND: '0', API_REQUESTS_PER_MINUTE: '0', PANEL_REQUESTS_PER_MINUTE: '0', ...env },
    clock,
  )
  const running = await panel(foundation)
  const { db } = mongo
  const url = `http://127.0.0.1:${running.port}`
  const anonymous = apiClient(url, MAIL_OPERATIONS)
  const cookie = env.APP_BASE_URL?.startsWith('https') ? '__Host-pw_session' : 'pw_session'
  const as = async (user: UserDoc, accountId?: string) => {
    const store = { db, secrets: foundation.secrets }
    const token = await openSession(store, user, '127.0.0.1', foundation.clock.now(), { accountId })
    return anonymous.with({ cookie: `${cookie}=${token}`, 'x-csrf': '1' })
  }
  return {
    url,
    mongo,
    db,
    secrets: foundation.secrets,
    anonymous,
    as,
    async newUser(change) {
      const user = await giveUser(db, change)
      return { user, client: await as(user) }
    },
    async withToken(user, change) {
      return anonymous.with({ authorization: `Bearer ${(await giveToken(db, user._id, change)).value}` })
    },
    async stop() {
      await running.stop()
      await mongo.stop()
    },
  }
}
