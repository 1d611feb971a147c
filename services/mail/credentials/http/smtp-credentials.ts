/** SMTP logins over HTTP. */
import type { z } from 'zod'
import { showManagedBy } from '../../../accounts/http/account-view.ts'
import { creatorOf } from '../../../accounts/http/audit-caller.ts'
import { bind } from '../../../platform/http/web-app.ts'
import { orderedPage, toOrderedPage } from '../../../platform/ordered-pages.ts'
import type { MailHttpDeps, Router } from '../../http/shared/context.ts'
import {
  changeCredential,
  createCredential,
  getCredential,
  readCredentialPassword,
  removeCredential,
  setCredentialPassword,
} from '../manage-smtp-credentials.ts'
import { publicPorts } from '../rules/connection-data.ts'
import type { CredentialDoc } from '../store/smtp-credentials.ts'
import { type CredentialChange, listCredentials } from '../store/smtp-credentials.ts'
import {
  createCredentialOperation,
  deleteCredentialOperation,
  getCredentialOperation,
  getCredentialPasswordOperation,
  LOGIN_ORDERS,
  listCredentialsOperation,
  patchCredentialOperation,
  putCredentialPasswordOperation,
  type smtpCredential,
} from './smtp-credentials-contract.ts'

/** Puts the operations on SMTP logins on the router. */
export function mountCredentials(router: Router, deps: MailHttpDeps): void {
  const { authorise, config, mongo } = deps
  const useCase = { ...deps, db: mongo.db }
  const connection = {
    host: config.SUBMISSION_HOST ?? config.MAIL_HOSTNAME,
    ports: publicPorts(config.SUBMISSION_PORTS, config.SUBMISSION_LISTEN),
  }
  const copyable = ({ password_sealed: sealed }: CredentialDoc) => sealed !== undefined && deps.secrets.isKnown(sealed)
  const show = (doc: CredentialDoc) => ({ ...showCredential(doc), copyable: copyable(doc), connection })
  type Who = Parameters<typeof deps.audit>
  const audit = (caller: Who[0], context: Who[1], verb: string, { _id, username }: CredentialDoc) =>
    deps.audit(caller, context, {
      action: `smtp_credential.${verb}`,
      target: { type: 'smtp_credential', id: _id, name: username },
    })

  bind(router, authorise, createCredentialOperation, async ({ body }, caller, context) => {
    const { credential, password } = await createCredential(
      useCase,
      caller.account.id,
      { ...body, created_by: creatorOf(caller) },
      caller.token,
    )
    await audit(caller, context, 'created', credential)
    context.set('Location', `/api/v1/smtp-credentials/${credential._id}`)
    return { ...show(credential), password }
  })

  bind(router, authorise, listCredentialsOperation, async ({ query }, { account }) => {
    const rows = await listCredentials(mongo.db, account.id, orderedPage(LOGIN_ORDERS, query))
    return toOrderedPage(LOGIN_ORDERS, query, rows, show)
  })

  bind(router, authorise, getCredentialOperation, async ({ params }, { account }) =>
    show(await getCredential(useCase, account.id, params.id)),
  )

  bind(router, authorise, patchCredentialOperation, async ({ params, body }, caller, context) => {
    const credential = await changeCredential(useCase, caller.account.id, params.id, given(body), caller.token)
    await audit(caller, context, 'changed', credential)
    return show(credential)
  })

  bind(router, authorise, putCredentialPasswordOperation, async ({ params, body }, caller, context) => {
    const changed = await setCredentialPassword(useCase, caller.account.id, params.id, body.password, caller.token)
    await audit(caller, context, 'password_set', changed.credential)
    return { ...show(changed.credential), password: changed.password }
  })

  bind(router, authorise, getCredentialPasswordOperation, async ({ params }, caller, context) => {
    const credential = await getCredential(useCase, caller.account.id, params.id)
    const password = await readCredentialPassword(useCase, caller.account.id, params.id)
    await audit(caller, context, 'password_read', credential)
    return { object: 'smtp_password' as const, id: credential._id, password }
  })

  bind(router, authorise, deleteCredentialOperation, async ({ params }, caller, context) => {
    await audit(caller, context, 'deleted', await removeCredential(useCase, caller.account.id, params.id))
  })
}

/** The fields that the body has. */
function given(body: { [Field in keyof CredentialChange]: CredentialChange[Field] | undefined }): CredentialChange {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
}

function showCredential(doc: CredentialDoc): Omit<z.input<typeof smtpCredential>, 'connection' | 'copyable'> {
  return {
    object: 'smtp_credential',
    id: doc._id,
    username: doc.username,
    allowed_senders: doc.allowed_senders,
    allowed_cidrs: doc.allowed_cidrs,
    messages_per_hour: doc.messages_per_hour,
    fallback_sender: doc.fallback_sender ?? null,
    allow_null_sender: doc.allow_null_sender ?? false,
    disabled: doc.disabled ?? false,
    last_used_at: doc.last_used_at?.toISOString() ?? null,
    created_by: doc.created_by?.name ?? null,
    managed_by: showManagedBy(doc.managed_by),
    created_at: doc.created_at.toISOString(),
    updated_at: doc.updated_at.toISOString(),
  }
}
