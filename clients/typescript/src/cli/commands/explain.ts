/** `postwright explain`. */
import { explainEmail } from '../../generated/mail.ts'
import type { RecipientExplanation } from '../../generated/mail-types.ts'
import type { Command } from '../command.ts'
import { oneLine } from '../printable.ts'

export const explain: Command = {
  name: 'explain',
  summary: 'Say what became of a message, why, and what to do',
  help: `Usage: postwright explain <id>

For each recipient: what happened, why, on whose side the reason is, what to do next, and the
evidence. <id> is the id of a message (em_…), as "postwright send" and "postwright messages" show it.
`,
  options: {},
  positionals: ['<id>'],
  async run({ positionals: [id = ''] }, session) {
    const explained = await explainEmail(await session.client(), { path: { id } })
    if (session.json) session.data(explained)
    else session.say(explained.recipients.map(describe).join('\n\n'))
    return 0
  },
}

function describe({ recipient, what, why, responsible, next, evidence }: RecipientExplanation): string {
  return [
    `${recipient.email} (${recipient.status})`,
    `  What:  ${oneLine(what)}`,
    ...(why === null ? [] : [`  Why:   ${oneLine(why)}`]),
    ...(responsible === 'none' ? [] : [`  Side:  ${responsible}`]),
    `  Next:  ${oneLine(next)}`,
    ...evidence.map(one => `  Proof: ${oneLine(proofOf(one))}`),
  ].join('\n')
}

function proofOf(one: RecipientExplanation['evidence'][number]): string {
  switch (one.type) {
    case 'reply':
      return `${one.at} ${one.mx_host ?? ''} ${one.text}`
    case 'dns_record':
      return `DNS record ${one.record} was ${one.status} at ${one.checked_at}: ${one.observed.join(' | ') || 'no value'}`
    case 'destination':
      return `${one.site} is ${one.state}${one.since === null ? '' : ` since ${one.since}`}: ${one.reason ?? ''}`
    case 'suppression':
      return `${one.email} is suppressed since ${one.since} (${one.reason})`
  }
}
