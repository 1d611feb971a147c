/** Webhooks that a Kubernetes resource declares: what a declaration changes, and which record belongs to it. */
import { isDeepStrictEqual } from 'node:util'
import { isOwner, type ManagedBy } from '../managed/rules/managed-by.ts'
import { SecretError } from '../security/secrets.ts'
import type { WebhookEndpoint } from './event-queue.ts'
import { ROTATION_MS } from './rules/standard-webhooks.ts'

/** Settings of a declaration; what is absent keeps its value. */
export interface DeclaredSettings {
  url: string
  enabled?: boolean | undefined
}

/** What a resource asks for beside the settings. */
export interface DeclarationRequest {
  /** Take over a webhook of this address that no resource manages. */
  adopt: boolean
  /** When a user asked to enable it again; a disabling by the platform before this time is over. */
  enableAt?: Date | undefined
  /** A secret that was made before this time is replaced. */
  rotateBefore?: Date | undefined
}

/** A declared webhook with the secret that signs. */
export interface DeclaredWebhook<W> {
  webhook: W
  secret: string
  outcome: 'created' | 'updated' | 'unchanged'
  /** The secret is new. */
  rotated: boolean
  /** What the platform had disabled is enabled again. */
  enabledAgain: boolean
}

/** Fields that a declaration can remove. */
export type Removable = 'disabled' | 'failing' | 'released_by'

/**
 * The webhook of the resource among those of its account or app: the one that it manages, else one that a resource of this
 * name released, else with `adopt` the oldest of this address that no resource manages.
 */
export function webhookOfResource<W extends WebhookEndpoint>(
  webhooks: readonly W[],
  by: ManagedBy,
  url: string,
  adopt: boolean,
): W | undefined {
  const managed = webhooks.find(({ managed_by: owner }) => owner && isOwner(owner, by))
  const free = webhooks.filter(({ managed_by }) => !managed_by)
  const released = free.find(({ released_by: owner }) => owner && isOwner(owner, by))
  return managed ?? released ?? (adopt ? free.find(webhook => webhook.url === url) : undefined)
}

/** What makes a webhook as it is declared; undefined when it is. */
export function changeFor<W extends WebhookEndpoint>(
  before: W,
  declared: DeclaredSettings,
  by: ManagedBy,
  enableAt: Date | undefined,
): { set: Partial<W>; remove: Removable[] } | undefined {
  const enabled = shouldBeEnabled(before, declared, enableAt)
  const wanted = { ...declared, enabled, managed_by: by }
  const differing = Object.entries(wanted).filter(
    ([name, value]) => value !== undefined && !isDeepStrictEqual(Reflect.get(before, name), value),
  )
  const startsAgain = (enabled && !before.enabled) || declared.url !== before.url
  const remove: Removable[] = [
    ...(before.disabled && (enabled || declared.enabled === false) ? (['disabled'] as const) : []),
    ...(before.failing && startsAgain ? (['failing'] as const) : []),
    ...(before.released_by ? (['released_by'] as const) : []),
  ]
  if (differing.length === 0 && remove.length === 0) return undefined
  return { set: Object.fromEntries(differing) as Partial<W>, remove }
}

/**
 * Whether a webhook is to get events. What the platform disabled stays so until a user acts on it: by another address, by a
 * request made afterwards, or by declaring it disabled first.
 */
function shouldBeEnabled(
  before: Pick<WebhookEndpoint, 'url' | 'enabled' | 'disabled'>,
  { url, enabled }: DeclaredSettings,
  enableAt: Date | undefined,
): boolean {
  if (enabled === false) return false
  if (before.enabled || !before.disabled) return enabled ?? before.enabled
  return url !== before.url || (enableAt !== undefined && enableAt > before.disabled.at)
}

/** What differs between webhooks of accounts and of apps. */
export interface DeclaredStore<W> {
  open(webhook: W, sealed: string): string
  write(webhook: W, change: { set: Partial<W>; remove: Removable[] }): Promise<W>
  /** Makes a new secret; the one before signs as well for a day. */
  rotate(webhook: W): Promise<{ webhook: W; secret: string }>
}

/** Makes a webhook as it is declared, with a secret that can be opened and is not due for a rotation. */
export async function applyDeclaration<W extends WebhookEndpoint>(
  before: W,
  declared: DeclaredSettings,
  by: ManagedBy,
  { enableAt, rotateBefore }: DeclarationRequest,
  { open, write, rotate, now }: DeclaredStore<W> & { now: Date },
): Promise<DeclaredWebhook<W>> {
  const change = changeFor(before, declared, by, enableAt)
  const webhook = change ? await write(before, change) : before
  const outcome = change ? ('updated' as const) : ('unchanged' as const)
  const result = { outcome, enabledAgain: webhook.enabled && (change?.remove.includes('disabled') ?? false) }
  const due = rotateBefore && rotateBefore <= now ? rotateBefore : undefined
  const secret = currentSecret(webhook, sealed => open(webhook, sealed), due)
  if (secret !== undefined) return { webhook, secret, ...result, rotated: false }
  return { ...(await rotate(webhook)), ...result, rotated: true }
}

/** When the secret of a webhook was made. */
export function secretMadeAt({ previous, created_at }: Pick<WebhookEndpoint, 'previous' | 'created_at'>): Date {
  return previous ? new Date(previous.until.getTime() - ROTATION_MS) : created_at
}

/** The secret; undefined when it is due for a rotation, or sealed with a key that is lost. */
export function currentSecret(
  webhook: Pick<WebhookEndpoint, 'sealed' | 'previous' | 'created_at'>,
  open: (sealed: string) => string,
  rotateBefore: Date | undefined,
): string | undefined {
  if (rotateBefore && secretMadeAt(webhook) < rotateBefore) return undefined
  try {
    return open(webhook.sealed)
  } catch (error) {
    if (error instanceof SecretError) return undefined
    throw error
  }
}
