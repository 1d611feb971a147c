/**
 * Releases what the accounts of deleted namespaces hold: no resource can do so any more, and their domains would keep the
 * names from others.
 */
import { listNamespaceAccounts } from '../../services/accounts/namespace-account.ts'
import { releaseDomainsOfAccount } from '../../services/mail/domains/declare-domain.ts'
import type { OperatorContext } from '../reconcilers/shared/operator-context.ts'

type Context = Pick<OperatorContext, 'mongo' | 'clock' | 'log' | 'writer' | 'assertLeader'>

/** Releases the domains of one namespace once it is gone; does nothing while it exists. */
export async function releaseDeletedNamespace(context: Context, namespace: string): Promise<void> {
  const accounts = (await listNamespaceAccounts(context)).filter(account => account.namespace === namespace)
  for (const { id } of accounts) await releaseAccount(context, namespace, id, { managed: true })
}

/**
 * The same for all watched namespaces, for deletions that no operator saw. Domains that a resource manages stay: in a
 * restored cluster the namespaces may only be missing for now.
 */
export async function releaseDeletedNamespaces(
  context: Context,
  isWatched: (namespace: string) => boolean,
  isKnown: (namespace: string) => boolean,
): Promise<void> {
  for (const { id, namespace } of await listNamespaceAccounts(context))
    if (isWatched(namespace) && !isKnown(namespace)) await releaseAccount(context, namespace, id, { managed: false })
}

async function releaseAccount(
  context: Context,
  namespace: string,
  id: string,
  what: { managed: boolean },
): Promise<void> {
  context.assertLeader()
  // The cache may be behind: a namespace that was created again keeps its domains.
  if (await context.writer.readNamespace(namespace)) return
  const deps = { db: context.mongo.db, clock: context.clock }
  const domains = await releaseDomainsOfAccount(deps, id, what)
  if (domains > 0) context.log.info({ namespace, account: id, domains }, 'domains of a deleted namespace suspended')
}
