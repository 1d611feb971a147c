/** The place of a field error in words of the panel, for errors that are not shown at their control. */
import type { TFunction } from 'i18next'

/** Parts of the body that the form does not show as such. */
const WRAPPERS: ReadonlySet<string> = new Set(['body', 'definition', 'dns'])

/** Fields of requests by the label of their control; entries of lists in the singular. */
const NAMES = {
  allowed_cidrs: 'access.networks',
  allowed_senders: 'access.senders',
  attribute: 'subs.attribute',
  conditions: 'fieldPath.condition',
  days: 'subs.daysMore',
  description: 'subs.description',
  duration: 'subs.duration',
  email: 'subs.changeFields.email',
  enabled: 'subs.changeFields.enabled',
  events: 'webhooks.events',
  expires_at: 'access.expires',
  fallback_sender: 'access.fallbackSender',
  features: 'subs.features',
  from: 'messages.from',
  messages_per_hour: 'access.perHour',
  metadata: 'messages.metadata',
  name: 'access.name',
  operator: 'subs.operator',
  password: 'account.password',
  price: 'subs.price',
  reason: 'messages.reason',
  rollout: 'subs.rollout',
  rua: 'dns.rua',
  rules: 'fieldPath.rule',
  schedules: 'fieldPath.schedule',
  scopes: 'access.scopes',
  spf: 'dns.spf',
  subject: 'messages.subject',
  tags: 'messages.tag',
  text: 'messages.text',
  title: 'subs.changeFields.title',
  to: 'messages.to',
  type: 'subs.type',
  url: 'webhooks.url',
  username: 'access.login',
  value: 'subs.value',
  values: 'subs.values',
} as const

/** `['rules', '0', 'conditions', '1', 'attribute']` becomes "Rule 1, Condition 2, Attribute"; an unknown field keeps its name. */
export function pathText(path: readonly string[], t: TFunction): string {
  const parts: string[] = []
  for (const segment of path) {
    if (WRAPPERS.has(segment)) continue
    const list = /^\d+$/.test(segment) ? parts.pop() : undefined
    parts.push(list === undefined ? nameOf(segment, t) : `${list} ${Number(segment) + 1}`)
  }
  return parts.join(t('fieldPath.separator'))
}

function nameOf(field: string, t: TFunction): string {
  return Object.hasOwn(NAMES, field) ? t(NAMES[field as keyof typeof NAMES]) : field.replaceAll('_', ' ')
}
