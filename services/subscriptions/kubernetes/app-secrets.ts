/** Credentials of declared apps that a Kubernetes Secret holds. */
import type { ManagedBy } from '../../platform/managed/rules/managed-by.ts'
import { record } from '../audit/record-change.ts'
import { checkKey, keptSecretOf, type MadeCredential, makeCredential } from '../catalogue/app-credentials.ts'
import { forgetUndelivered, insertCredentials, listCredentials, revokeCredentials } from '../catalogue/store/apps.ts'
import type { Subscriptions } from '../context.ts'
import type { CredentialDoc } from '../store/models.ts'
import { operatorActor } from './declared-record.ts'

/** Credential that signs requests. */
export interface SigningKey {
  id: string
  secret: string
}

/**
 * The secret of an app for its Kubernetes Secret: the one that it holds while that works, else one that was created but
 * never delivered, else a new one. Without the second case, each failed write of the Secret would revoke a working
 * secret.
 */
export async function appSecretFor(
  context: Subscriptions,
  by: ManagedBy,
  appKey: string,
  held: string | undefined,
): Promise<string> {
  if (held !== undefined) {
    const known = await checkKey(context, held)
    if (known?.kind === 'secret' && known.app_key === appKey) return held
  }
  const live = await liveCredentials(context, appKey, 'secret')
  for (const credential of live.toReversed()) {
    const waiting = keptSecretOf(context, credential)
    if (waiting !== undefined) return waiting
  }
  return (await addManaged(context, by, appKey, 'secret', live.slice(0, -1))).shown
}

/** Removes the sealed copy of the app secret after the Kubernetes Secret holds it. */
export async function appSecretDelivered(context: Subscriptions, appKey: string): Promise<void> {
  await forgetUndelivered(context.collections, appKey)
}

export async function publishableKeyOf(context: Subscriptions, by: ManagedBy, appKey: string): Promise<string> {
  const [known] = await liveCredentials(context, appKey, 'publishable')
  return known?.key ?? (await addManaged(context, by, appKey, 'publishable')).shown
}

/**
 * The newer of two signing keys: programs receive a second key before the first is revoked. A key that cannot be
 * decrypted is skipped.
 */
export async function signingKeyOf(context: Subscriptions, by: ManagedBy, appKey: string): Promise<SigningKey> {
  for (const credential of (await liveCredentials(context, appKey, 'hmac')).toReversed()) {
    const secret = keptSecretOf(context, credential)
    if (secret !== undefined) return { id: credential._id, secret }
  }
  const { document, shown } = await addManaged(context, by, appKey, 'hmac')
  return { id: document._id, secret: shown }
}

async function liveCredentials(context: Subscriptions, appKey: string, kind: CredentialDoc['kind']) {
  return (await listCredentials(context.collections, appKey)).filter(known => known.kind === kind && !known.revoked_at)
}

/** Creates a credential for the resource and revokes those that it replaces. */
async function addManaged(
  context: Subscriptions,
  by: ManagedBy,
  appKey: string,
  kind: CredentialDoc['kind'],
  replaced: readonly CredentialDoc[] = [],
): Promise<MadeCredential> {
  const made = makeCredential(context, appKey, kind, by)
  const { document } = made
  await record(context, operatorActor(by), async session => {
    await insertCredentials(context.collections, [document], session)
    for (const { _id } of replaced)
      await revokeCredentials(context.collections, { app_key: appKey, _id }, context.clock.now(), session)
    return {
      result: undefined,
      event: { action: 'credential.create', appKey, target: { kind: 'credential', id: document._id } },
    }
  })
  return made
}
