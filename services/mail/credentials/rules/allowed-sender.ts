/** The form of an allowed sender: one address, or everything at a domain. */

import { z } from 'zod'
import { reason } from '../../../platform/sentences/issue-reason.ts'
import { normaliseDomain } from '../../domains/rules/domain-name.ts'
import { normaliseEmail } from '../../message/address.ts'

/** One address that a login may send as, in its stored form. */
export const senderAddress = z
  .string()
  .trim()
  .max(254)
  .meta({ format: 'idn-email' })
  .transform((value, context) => {
    const normal = normaliseEmail(value)
    if (normal !== undefined) return normal
    context.addIssue({ code: 'custom', message: reason('field.sender_address') })
    return z.NEVER
  })

/** `user@example.com` or `@example.com`, the domain in its stored form. */
export const sender = z
  .string()
  .trim()
  .max(254)
  .meta({ format: 'allowed-sender', examples: ['user@example.com', '@example.com'] })
  .transform((value, context) => {
    const domain = value.startsWith('@') ? normaliseDomain(value.slice(1)) : undefined
    const normal = domain ? (domain.ok ? `@${domain.name}` : undefined) : normaliseEmail(value)
    if (normal !== undefined) return normal
    context.addIssue({
      code: 'custom',
      message: reason('field.sender_or_domain'),
    })
    return z.NEVER
  })
