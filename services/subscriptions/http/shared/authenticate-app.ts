/** Authentication of apps: Bearer secret or signature for the server API, publishable key or secret for switches. */

import type { WebContext } from '../../../platform/http/web-app.ts'
import { ProblemError } from '../../../platform/problems.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import { createTtlCache } from '../../../platform/ttl-cache.ts'
import { checkKey, checkSignature, findSigner } from '../../catalogue/app-credentials.ts'
import { parseSignature } from '../../catalogue/rules/request-signature.ts'
import { findApp } from '../../catalogue/store/apps.ts'
import type { Subscriptions } from '../../context.ts'
import type { AppDoc, CredentialDoc } from '../../store/models.ts'

/** An authenticated app. */
export interface AppEntry {
  app: AppDoc
  credential: CredentialDoc
}

/** Authenticates apps. */
export interface AppAuthenticator {
  /**
   * The app of a server API request; `readBody` is called before a signature is checked. Throws
   * `app_credential_invalid`, `app_signature_invalid`, `app_disabled`.
   */
  enter(context: WebContext, readBody: () => Promise<void>): Promise<AppEntry>
  /**
   * The app of a key; undefined when the key is unknown or revoked. Throws `app_disabled`, and `app_signature_invalid`
   * for a secret of an app that must sign.
   */
  enterByKey(key: string): Promise<AppEntry | undefined>
}

/** Delay in milliseconds after which a revocation applies in all processes. */
const MEMORY_MS = 1_000

/** Creates an authenticator with a cache: the credential of a busy app is not read for each request. */
export function createAppAuthenticator(subscriptions: Subscriptions): AppAuthenticator {
  const memory = () =>
    createTtlCache<AppEntry | undefined>({
      ttlMs: MEMORY_MS,
      refreshMs: MEMORY_MS / 2,
      max: 10_000,
      clock: subscriptions.clock,
      isCacheable: entry => entry !== undefined,
    })
  const [byKey, bySigner] = [memory(), memory()]
  const load = async (credential: CredentialDoc | undefined): Promise<AppEntry | undefined> => {
    const app = credential && (await findApp(subscriptions.collections, credential.app_key))
    return app && { app, credential }
  }
  const enterByKey = async (key: string) =>
    open(await byKey.get(key, async () => load(await checkKey(subscriptions, key))))
  const enterSigned = async (signed: Signed, context: WebContext, readBody: () => Promise<void>) => {
    const entry = await bySigner.get(signed.keyId, async () => load(await findSigner(subscriptions, signed.keyId)))
    // Checked before the state of the app, so that a caller without a valid signature learns nothing about it.
    if (entry) {
      await readBody()
      await checkSignature(subscriptions, entry.credential, { ...signed, ...requestOf(context) })
    }
    return open(entry)
  }
  return {
    enterByKey,
    async enter(context, readBody) {
      const header = context.get('authorization')
      const signed = parseSignature(header)
      const entry = signed
        ? await enterSigned(signed, context, readBody)
        : await enterByKey(/^Bearer\s+(ask_\S+)$/i.exec(header)?.[1] ?? '')
      if (!entry) throw new ProblemError('app_credential_invalid')
      return entry
    },
  }
}

type Signed = NonNullable<ReturnType<typeof parseSignature>>

function requestOf(context: WebContext) {
  return { method: context.method, target: context.originalUrl, body: context.request.rawBody ?? '' }
}

function open(entry: AppEntry | undefined): AppEntry | undefined {
  if (entry && entry.app.status !== '1') throw new ProblemError('app_disabled')
  if (entry?.app.require_signature && entry.credential.kind === 'secret')
    throw new ProblemError('app_signature_invalid', sentence('detail.must_sign'))
  return entry
}
