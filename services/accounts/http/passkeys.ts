/** Passkeys of the own account, and logins with one. */
import type { z } from 'zod'
import { toPage } from '../../platform/cursor-pages.ts'
import { bind, type createRouter, factsOf, type WebContext } from '../../platform/http/web-app.ts'
import {
  addPasskey,
  askForLogin,
  askForPasskey,
  changePasskey,
  logInWithPasskey,
  MAX_PASSKEYS,
  type PasskeyQuestion,
  removePasskey,
} from '../passkeys.ts'
import { listPasskeysOf, type PasskeyDoc } from '../store/passkeys.ts'
import { createAnybody } from './anybody.ts'
import type { Caller } from './audit-caller.ts'
import type { AccountsHttpDeps } from './deps.ts'
import { createOpenSession } from './open-session.ts'
import {
  beginPasskeyLogin,
  completePasskeyLogin,
  createMyPasskey,
  deleteMyPasskey,
  listMyPasskeys,
  type passkey,
  renameMyPasskey,
  startMyPasskey,
} from './passkeys-contract.ts'

/** Mounts the operations on passkeys. */
export function mountPasskeys(router: ReturnType<typeof createRouter>, deps: AccountsHttpDeps): void {
  const { mongo, authorise } = deps
  const anybody = createAnybody(deps)
  const open = createOpenSession(deps)
  const audit = (caller: Caller, context: WebContext, action: string, { _id, name }: PasskeyDoc) =>
    deps.audit(caller, context, { action, target: { type: 'passkey', id: _id, name } })

  bind(router, authorise, listMyPasskeys, async (_, { account }) =>
    toPage(await listPasskeysOf(mongo.db, account.id, MAX_PASSKEYS), MAX_PASSKEYS, showPasskey),
  )

  bind(router, authorise, startMyPasskey, async ({ body }, { account }, context) =>
    showQuestion(
      await askForPasskey(deps, { userId: account.id, password: body.current_password, ip: factsOf(context).ip }),
    ),
  )

  bind(router, authorise, createMyPasskey, async ({ body }, caller, context) => {
    const { name, challenge, id, client_data: clientData, attestation, transports } = body
    const made = { id, clientData, attestation, transports }
    const added = await addPasskey(deps, { userId: caller.account.id, name, challenge, made })
    await audit(caller, context, 'passkey.created', added)
    return showPasskey(added)
  })

  bind(router, authorise, renameMyPasskey, async ({ params, body }, caller, context) => {
    const renamed = await changePasskey(deps, caller.account.id, params.id, body.name)
    await audit(caller, context, 'passkey.renamed', renamed)
    return showPasskey(renamed)
  })

  bind(router, authorise, deleteMyPasskey, async ({ params }, caller, context) => {
    await audit(caller, context, 'passkey.removed', await removePasskey(deps, caller.account.id, params.id))
  })

  bind(router, anybody, beginPasskeyLogin, async () => showQuestion(await askForLogin(deps)))

  bind(router, anybody, completePasskeyLogin, async ({ body }, _, context) => {
    const { challenge, id, signature } = body
    const [clientData, authenticatorData, userHandle] = [body.client_data, body.authenticator_data, body.user_handle]
    const proof = { id, clientData, authenticatorData, signature, userHandle }
    return open(context, await logInWithPasskey(deps, { challenge, proof }), { method: 'passkey' })
  })
}

function showQuestion({ options, challenge }: PasskeyQuestion) {
  return { object: 'passkey_question' as const, options: { ...options }, challenge }
}

function showPasskey(doc: PasskeyDoc): z.input<typeof passkey> {
  return {
    object: 'passkey',
    id: doc._id,
    name: doc.name,
    synced: doc.is_synced,
    created_at: doc.created_at.toISOString(),
    last_used_at: doc.last_used_at?.toISOString() ?? null,
  }
}
