/** Between the library and the submission service: sessions become submissions, answers become replies. */

import type { SMTPServerSession } from 'smtp-server'
import { type ProblemCode, problems, problemTitle } from '../../../platform/problems.ts'
import { inEnglish } from '../../../platform/sentences/sentence.ts'
import { toOrcpt, toXtext } from '../../message/xtext.ts'
import type { Refused, Submission, Submitter } from '../submission.ts'
import type { SubmissionConnection } from './listener-connection.ts'

/** A refusal with the title of the problem. */
export function problemOf(code: ProblemCode): Refused {
  return { kind: 'refused', code, detail: { code: `problem.${code}` } }
}

/** A refusal as the library wants it: its reply code, and a text that begins with the enhanced code. */
export function toError({ code, detail }: Refused): Error & { responseCode: number } {
  const [reply, enhanced] = replyCodes(code)
  return Object.assign(new Error(`${enhanced} ${inEnglish(detail)}`), { responseCode: reply })
}

/** Sends the reason, and closes the connection. */
export function closeWithReply(connection: SubmissionConnection, code: ProblemCode): void {
  const [reply, enhanced] = replyCodes(code)
  connection.send(reply, `${enhanced} ${problemTitle(code)}`)
  connection.close()
}

/** A problem that SMTP cannot meet has no reply in the register; should it come here all the same, it is permanent. */
function replyCodes(code: ProblemCode): [reply: number, enhanced: string] {
  const problem = problems[code]
  const [reply, enhanced] = ('smtp' in problem ? problem.smtp : '554 5.0.0').split(' ')
  return [Number(reply), enhanced ?? '5.0.0']
}

/** Longest values of RFC 3461 (4.2, 4.4). Reports do without longer ones; refusing the message would help no client. */
const ORCPT_CHARACTERS = 500
const ENVID_CHARACTERS = 100

/**
 * The submission of a session whose message was received completely. The library decodes DSN values; they are kept
 * encoded.
 */
export function toSubmission(submitter: Submitter, session: SMTPServerSession, raw: Buffer): Submission {
  const { mailFrom, rcptTo, smtpUtf8, bodyType, dsn } = session.envelope
  const ret = dsn?.ret === 'FULL' || dsn?.ret === 'HDRS' ? dsn.ret : undefined
  const envid = dsn?.envid && dsn.envid.length <= ENVID_CHARACTERS ? dsn.envid : undefined
  return {
    submitter,
    mailFrom: mailFrom ? mailFrom.address : '',
    recipients: rcptTo.map(({ address, dsn: wishes }) => ({
      email: address,
      type: 'envelope',
      ...(wishes?.notify && { notify: [...new Set(wishes.notify)] }),
      ...(wishes?.orcpt && wishes.orcpt.length <= ORCPT_CHARACTERS && { orcpt: toOrcpt(wishes.orcpt) }),
    })),
    raw,
    received: { from: session.hostNameAppearsAs, ip: session.remoteAddress, protocol: 'ESMTPSA' },
    ...(smtpUtf8 && { smtputf8: true }),
    ...(bodyType === '8bitmime' && { body8bit: true }),
    ...((ret || envid) && { dsn: { ...(ret && { ret }), ...(envid && { envid: toXtext(envid) }) } }),
  }
}
