/** Refusals for failed authentication as the API shows them. */
import type { z } from 'zod'
import { sentenceFields } from '../../../platform/http/sentence-fields.ts'
import { authenticationAdvice } from '../rules/authentication-advice.ts'
import { currentRefusals, refusalCounts } from '../rules/authentication-refusals.ts'
import type { DomainDoc } from '../store/domain-model.ts'
import type { domain } from './domains-contract.ts'

/** The refusals of the last week, latest first. */
export function showRefusals(
  { authentication }: Pick<DomainDoc, 'authentication'>,
  now: Date,
): z.input<typeof domain>['authentication_refusals'] {
  return currentRefusals(authentication?.refusals ?? [], now).map(refusal => {
    const { day, week } = refusalCounts(refusal, now)
    return {
      site: refusal.site,
      smtp_code: refusal.code ?? null,
      enhanced_code: refusal.enhanced ?? null,
      reply: refusal.text,
      ...sentenceFields('advice', authenticationAdvice(refusal)),
      last_24_hours: day,
      last_7_days: week,
      last_at: refusal.last_at.toISOString(),
    }
  })
}
