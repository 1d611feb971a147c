/** Explanations as the API shows them. */
import type { z } from 'zod'
import { sentenceFields } from '../../../platform/http/sentence-fields.ts'
import { explanationOf } from '../../store/rules/explanation.ts'
import { ALL_STREAMS } from '../../suppressions/rules/suppression.ts'
import type { ExplainedRecipient } from '../explain-message.ts'
import { toRecipient } from './email-views.ts'
import type { explainEmail } from './explain-contract.ts'

type View = z.input<(typeof explainEmail)['response']>['recipients'][number]
type Evidence = View['evidence'][number]

/** One recipient. */
export function toExplanation(given: ExplainedRecipient): View {
  const { recipient, what, why, responsible, next, kind } = given
  return {
    recipient: toRecipient(recipient),
    ...sentenceFields('what', what),
    ...sentenceFields('why', why),
    responsible,
    ...sentenceFields('next', next),
    kind: kind ?? null,
    evidence: evidenceOf(given),
  }
}

function evidenceOf({ decisive, dns, destination, suppression }: ExplainedRecipient): Evidence[] {
  const reply: Evidence[] = decisive
    ? [
        {
          type: 'reply',
          event_id: decisive._id,
          at: decisive.at.toISOString(),
          mx_host: decisive.mx ?? null,
          smtp_code: decisive.code ?? null,
          enhanced_code: decisive.enhanced ?? null,
          ...sentenceFields('text', explanationOf(decisive)),
        },
      ]
    : []
  const records = (dns?.records ?? []).map(
    ({ row, status, observed }): Evidence => ({
      ...{ type: 'dns_record', record: row, status, observed: [...observed] },
      checked_at: (dns as NonNullable<typeof dns>).at.toISOString(),
    }),
  )
  return [...reply, ...records, ...destinationOf(destination), ...suppressionOf(suppression)]
}

function destinationOf(site: ExplainedRecipient['destination']): Evidence[] {
  if (!site) return []
  const state = site.state === 'down' ? 'down' : 'throttled'
  const since = site.since?.toISOString() ?? null
  return [{ type: 'destination', site: site._id, state, since, reason: site.reason ?? null }]
}

function suppressionOf(entry: ExplainedRecipient['suppression']): Evidence[] {
  if (!entry) return []
  const { email, stream, reason, created_at, expires_at } = entry
  return [
    {
      ...{ type: 'suppression', email, stream: stream === ALL_STREAMS ? null : stream, reason },
      ...{ since: created_at.toISOString(), expires_at: expires_at?.toISOString() ?? null },
    },
  ]
}
