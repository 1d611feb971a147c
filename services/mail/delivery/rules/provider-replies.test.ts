import { describe, expect, test } from 'vitest'
import { siteOf } from '../../store/rules/assign-slot.ts'
import { classifyReply, type FailureKind, isHardBounce } from './classify-reply.ts'
import { parseReply } from './smtp-reply.ts'

/** Provider or product, as the domain of a recipient where it matters; the reply, and what it means. */
type Case = [from: string, reply: string, outcome: 'deferred' | 'bounced', kind: FailureKind, slowDown?: true]

/** Google: "Gmail SMTP errors and codes" (Workspace admin help 3726730) and "Email sender guidelines FAQ" (14229414). */
const GOOGLE: Case[] = [
  [
    'gmail.com',
    '421-4.7.26 Your email has been rate limited because it is unauthenticated. Gmail requires all senders to authenticate with either SPF or DKIM. - gsmtp',
    'deferred',
    'authentication',
  ],
  [
    'workspace.example',
    "421-4.7.27 Your email has been rate limited because SPF authentication didn't pass for this message. Gmail requires all bulk email senders to authenticate their email with SPF. - gsmtp",
    'deferred',
    'authentication',
  ],
  [
    'workspace.example',
    "421-4.7.29 Your email has been rate limited because this message wasn't sent over a TLS connection. - gsmtp",
    'deferred',
    'authentication',
  ],
  [
    'gmail.com',
    "421-4.7.30 Your email has been rate limited because DKIM authentication didn't pass for this message.",
    'deferred',
    'authentication',
  ],
  [
    'gmail.com',
    "421-4.7.32 Your email has been rate limited because the From: header (RFC5322) in this message isn't aligned with either the authenticated SPF or DKIM organizational domain. - gsmtp",
    'deferred',
    'authentication',
  ],
  [
    'gmail.com',
    "421-4.7.40 Your email has been rate limited because it doesn't have a DMARC record. - gsmtp",
    'deferred',
    'authentication',
  ],
  [
    'gmail.com',
    "550-5.7.26 Unauthenticated email from sender.example is not accepted due to domain's DMARC policy. - gsmtp",
    'bounced',
    'authentication',
  ],
  [
    'gmail.com',
    '550-5.7.27 Your email has been blocked because SPF authentication did not pass. - gsmtp',
    'bounced',
    'authentication',
  ],
  ['gmail.com', "550-5.7.30 Your email has been blocked because DKIM didn't pass.", 'bounced', 'authentication'],
  ['gmail.com', '550-5.7.32 From: header is not aligned.', 'bounced', 'authentication'],
  [
    'gmail.com',
    '550-5.7.25 The IP address sending this message does not have a PTR record setup. - gsmtp',
    'bounced',
    'authentication',
  ],
  [
    'gmail.com',
    '550-5.7.1 [2001:db8::1] Our system has detected that this message does not meet IPv6 sending guidelines regarding PTR records and authentication. - gsmtp',
    'bounced',
    'authentication',
  ],
  [
    'gmail.com',
    '421-4.7.28 Our system has detected an unusual rate of unsolicited mail originating from your IP address. - gsmtp',
    'deferred',
    'throttled',
    true,
  ],
  [
    'gmail.com',
    '421-4.7.0 [192.0.2.1] This message is suspicious due to the very low reputation of the sending IP address. - gsmtp',
    'deferred',
    'reputation',
    true,
  ],
  [
    'gmail.com',
    '550-5.7.1 [192.0.2.1] Our system has detected that this message is likely unsolicited mail. - gsmtp',
    'bounced',
    'content',
  ],
  [
    'gmail.com',
    '550-5.1.1 The email account that you tried to reach does not exist. https://support.google.com/mail/?p=NoSuchUser - gsmtp',
    'bounced',
    'address',
  ],
  [
    'gmail.com',
    '550-5.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages from being delivered. - gsmtp',
    'deferred',
    'throttled',
  ],
  ['gmail.com', "452-4.2.2 The recipient's inbox is out of storage space. - gsmtp", 'deferred', 'mailbox_full'],
]

/** Microsoft: "Email non-delivery reports in Exchange Online", postmaster page of Outlook.com; Exchange Server 2019. */
const MICROSOFT: Case[] = [
  [
    'outlook.com',
    '550 5.7.515 Access denied, sending domain SENDER.EXAMPLE does not meet the required authentication level.',
    'bounced',
    'authentication',
  ],
  [
    'tenant.example',
    '550 5.7.509 Access denied, sending domain sender.example does not pass DMARC verification and has a DMARC policy of reject.',
    'bounced',
    'authentication',
  ],
  [
    'tenant.example',
    '550 5.7.23 The message was rejected because of Sender Policy Framework violation',
    'bounced',
    'authentication',
  ],
  [
    'tenant.example',
    '450 4.7.26 Service unavailable, message sent over IPv6 [2001:db8::1] must pass either SPF or DKIM validation',
    'deferred',
    'authentication',
  ],
  [
    'tenant.example',
    '550 5.7.25 Access denied, the sending IPv6 address [2001:db8::1] must have a reverse DNS record',
    'bounced',
    'authentication',
  ],
  [
    'outlook.com',
    "550 5.7.1 Unfortunately, messages from [192.0.2.1] weren't sent. Please contact your Internet service provider since part of their network is on our block list (S3140).",
    'bounced',
    'reputation',
  ],
  ['tenant.example', '550 5.7.606 Access denied, banned sending IP [192.0.2.1]', 'bounced', 'reputation'],
  [
    'tenant.example',
    '550 5.7.511 Access denied, banned sender[192.0.2.1]. To request removal forward this message to delist@microsoft.com',
    'bounced',
    'reputation',
  ],
  [
    'outlook.com',
    '451 4.7.650 The mail server [192.0.2.1] has been temporarily rate limited due to IP reputation. (S3114)',
    'deferred',
    'reputation',
    true,
  ],
  [
    'tenant.example',
    '451 4.7.500 Server busy. Please try again later from [192.0.2.1]. (S77719)',
    'deferred',
    'throttled',
    true,
  ],
  [
    'tenant.example',
    '550 5.7.508 [192.0.2.1] has exceeded permitted limits within a day range',
    'deferred',
    'throttled',
    true,
  ],
  [
    'tenant.example',
    '550 5.4.1 Recipient address rejected: Access denied. AS(201806281) [AM0.eop-EUR01.prod.protection.outlook.com]',
    'bounced',
    'address',
  ],
  ['outlook.com', '550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302).', 'bounced', 'address'],
  [
    'tenant.example',
    '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup',
    'bounced',
    'address',
  ],
  ['onpremises.example', '550 5.1.1 RESOLVER.ADR.RecipNotFound; not found', 'bounced', 'address'],
  ['onpremises.example', '550 5.7.1 RESOLVER.RST.AuthRequired; authentication required', 'bounced', 'policy'],
  ['onpremises.example', '550 5.7.54 SMTP; Unable to relay recipient in non-accepted domain', 'bounced', 'own_fault'],
  [
    'onpremises.example',
    '550 5.2.3 RESOLVER.RST.RecipSizeLimit; message too large for this recipient',
    'bounced',
    'size',
  ],
]

/** Yahoo Sender Hub "SMTP Error Codes"; Apple "Postmaster information for iCloud Mail". */
const YAHOO_AND_APPLE: Case[] = [
  [
    'yahoo.com',
    '421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to unexpected volume or user complaints',
    'deferred',
    'throttled',
    true,
  ],
  [
    'yahoo.com',
    '553 5.7.1 [BL21] Connections will not be accepted from 192.0.2.1, because the ip is in Spamhaus list',
    'bounced',
    'reputation',
  ],
  [
    'aol.com',
    '554 5.7.9 Message not accepted for policy reasons. See https://senders.yahooinc.com/error-codes',
    'bounced',
    'authentication',
  ],
  [
    'att.example',
    '550 5.7.9 This mail has been blocked because the sender is unauthenticated. Yahoo requires all senders to authenticate with either SPF or DKIM.',
    'bounced',
    'authentication',
  ],
  [
    'yahoo.com',
    "554 delivery error: dd This user doesn't have a yahoo.com account (a@yahoo.com) [0] - mta1.mail",
    'bounced',
    'address',
  ],
  ['yahoo.com', '554 Message not allowed - [PH01] Email not accepted for policy reasons.', 'bounced', 'content'],
  [
    'icloud.com',
    "550 5.7.1 Your message was rejected due to sender.example's DMARC policy. See https://support.apple.com/en-us/HT204137",
    'bounced',
    'authentication',
  ],
  ['icloud.com', '554 5.7.1 [HME1] This message was blocked.', 'bounced', 'authentication'],
  [
    'me.com',
    '550 5.7.1 [CS01] Message rejected due to local policy. Please visit https://support.apple.com/en-us/HT204137',
    'bounced',
    'content',
  ],
  ['me.com', '554 5.7.1 [HM08] Message rejected due to local policy.', 'bounced', 'reputation'],
  [
    'icloud.com',
    '550 5.7.1 Your email was rejected due to having a domain present in the Spamhaus DBL',
    'bounced',
    'reputation',
  ],
  [
    'icloud.com',
    '421 4.7.1 Messages to a@icloud.com deferred due to excessive volume. Try again later',
    'deferred',
    'throttled',
    true,
  ],
]

/** Tencent's and NetEase's help about returned mail; the error lists of Sina and Alibaba Mail. */
const CHINA: Case[] = [
  [
    'qq.com',
    '550 Domain frequency limited. http://service.mail.qq.com/cgi-bin/help?subtype=1&&id=20022&&no=1000725',
    'deferred',
    'throttled',
    true,
  ],
  [
    'exmail.example',
    '550 Sender frequency limited. http://service.exmail.qq.com/cgi-bin/help',
    'deferred',
    'throttled',
    true,
  ],
  [
    'qq.com',
    '550 Mailbox unavailable or access denied. http://service.mail.qq.com/cgi-bin/help',
    'deferred',
    'throttled',
  ],
  ['qq.com', '550 Mailbox not found. http://service.mail.qq.com/cgi-bin/help?no=1000728', 'bounced', 'address'],
  [
    'exmail.example',
    '550 Mail content denied. http://service.exmail.qq.com/cgi-bin/help?no=1000726',
    'bounced',
    'content',
  ],
  ['qq.com', '550 Suspected spam sender. http://service.mail.qq.com/cgi-bin/help', 'bounced', 'reputation'],
  ['qq.com', '550 SPF check failed. http://service.mail.qq.com/cgi-bin/help', 'bounced', 'authentication'],
  [
    'qq.com',
    '550 DMARC check failed http://service.mail.qq.com/cgi-bin/help?subtype=1&&no=1001508',
    'bounced',
    'authentication',
  ],
  ['qq.com', '550 Mail is rejected by recipients', 'bounced', 'policy'],
  [
    '163.com',
    '550 MI:SPF mx1,QMmowAA. http://mail.163.com/help/help_spam_16.htm?ip=192.0.2.1',
    'bounced',
    'authentication',
  ],
  ['126.com', '550 MI:DMA smtp1,QMmowAA', 'bounced', 'authentication'],
  ['163.com', '554 DT:SUM smtp1,QMmowAA', 'bounced', 'authentication'],
  ['163.com', '554 DT:SPM mx1,QMmowAA http://mail.163.com/help/help_spam_16.htm', 'bounced', 'content'],
  ['qiye.example', '451 DT:SPM ,please try again', 'deferred', 'content'],
  ['163.com', '421 HL:IFC', 'deferred', 'throttled', true],
  ['163.com', '421 HL:REP', 'deferred', 'reputation', true],
  ['163.com', '554 IP<192.0.2.1> in blacklist', 'bounced', 'reputation'],
  ['163.com', '550 RP:TRC', 'deferred', 'throttled', true],
  ['163.com', '550 User not found: a@163.com', 'bounced', 'address'],
  ['163.com', '550 MI:NHD', 'bounced', 'own_fault'],
  ['coremail.example', '550 RC:NE The email account does not exist.', 'bounced', 'address'],
  ['aliyun.com', '554 Reject by content spam at DATA State(Connection IP address:192.0.2.1)', 'bounced', 'content'],
  ['aliyun.com', '554 Reject by behaviour spam at RCPT State', 'bounced', 'reputation'],
  ['aliyun.com', '559 Invalid rcptto [@sm070104]', 'bounced', 'address'],
  ['sina.com', '552 message rejected by anti-spam engine', 'bounced', 'content'],
  ['sina.com', '550 black ip', 'bounced', 'reputation'],
  ['company.example', '550 5.1.1 用户不存在', 'bounced', 'address'],
  ['company.example', '550 收件人（a@b.example）所属域名不存在', 'bounced', 'dns'],
  ['company.example', '550 发件人邮箱地址不存在', 'bounced', 'own_fault'],
  ['company.example', '552 收件人空间不足', 'bounced', 'mailbox_full'],
  ['company.example', '550 发送频率过快', 'bounced', 'throttled'],
]

/** Servers that people run (Postfix, Exim, qmail), filters in front of them, and further providers. */
const OTHERS: Case[] = [
  [
    'postfix.example',
    '550 5.1.1 <a@b.example>: Recipient address rejected: User unknown in virtual mailbox table',
    'bounced',
    'address',
  ],
  [
    'postfix.example',
    '554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org',
    'bounced',
    'reputation',
  ],
  [
    'postfix.example',
    '450 4.7.25 Client host rejected: cannot find your hostname, [192.0.2.1]',
    'deferred',
    'authentication',
  ],
  [
    'postfix.example',
    '450 4.7.1 Client host rejected: cannot find your reverse hostname, [192.0.2.1]',
    'deferred',
    'authentication',
  ],
  [
    'postfix.example',
    '450 4.1.8 <a@sender.example>: Sender address rejected: Domain not found',
    'deferred',
    'own_fault',
  ],
  [
    'postfix.example',
    '550 5.1.0 <a@b.example>: Sender address rejected: User unknown in virtual mailbox table',
    'bounced',
    'own_fault',
  ],
  ['postfix.example', '554 5.7.1 <a@b.example>: Relay access denied', 'bounced', 'own_fault'],
  [
    'postfix.example',
    '504 5.5.2 <localhost>: Helo command rejected: need fully-qualified hostname',
    'bounced',
    'own_fault',
  ],
  ['postfix.example', '450 4.1.1 <a@b.example>: Recipient address rejected: unverified address', 'deferred', 'address'],
  ['postfix.example', '552 5.3.4 Message size exceeds fixed limit', 'bounced', 'size'],
  ['postfix.example', '452 4.5.3 Error: too many recipients', 'deferred', 'throttled'],
  ['exim.example', '550 Unrouteable address', 'bounced', 'address'],
  ['exim.example', '550 relay not permitted', 'bounced', 'own_fault'],
  ['exim.example', '550 Sender verify failed', 'bounced', 'own_fault'],
  ['exim.example', '451 Temporary local problem - please try later', 'deferred', 'other'],
  ['qmail.example', '550 sorry, no mailbox here by that name. (#5.1.1 - chkuser)', 'bounced', 'address'],
  ['qmail.example', "553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)", 'bounced', 'own_fault'],
  ['qmail.example', '554 too many hops, this message is looping (#5.4.6)', 'bounced', 'own_fault'],
  ['qmail.example', '552 sorry, that message size exceeds my databytes limit (#5.3.4)', 'bounced', 'size'],
  [
    'mimecast.example',
    '550 DMARC Sender Invalid - envelope rejected - https://community.mimecast.com/docs/DOC-1369#550',
    'bounced',
    'authentication',
  ],
  [
    'mimecast.example',
    '550 Invalid Recipient - https://community.mimecast.com/docs/DOC-1369#550',
    'bounced',
    'address',
  ],
  [
    'mimecast.example',
    '451 Internal resources are temporarily unavailable - https://community.mimecast.com',
    'deferred',
    'greylisted',
  ],
  [
    'mimecast.example',
    '554 Email rejected due to security policies - https://community.mimecast.com',
    'bounced',
    'content',
  ],
  ['proofpoint.example', '554 Blocked - see https://ipcheck.proofpoint.com/?ip=192.0.2.1', 'bounced', 'reputation'],
  ['proofpoint.example', '550 5.7.0 Local Policy Violation', 'bounced', 'policy'],
  [
    'barracuda.example',
    '554 Service unavailable; Client host [192.0.2.1] blocked using Barracuda Reputation',
    'bounced',
    'reputation',
  ],
  ['barracuda.example', '550 permanent failure for one or more recipients (a@b.example:blocked)', 'bounced', 'policy'],
  [
    'barracuda.example',
    '550 permanent failure for one or more recipients (a@b.example:550 5.1.1 no)',
    'bounced',
    'address',
  ],
  ['zoho.example', '550 5.1.1 User does not exist - <a@zoho.example>', 'bounced', 'address'],
  ['zoho.example', '541 5.4.1 Mail rejected by destination domain', 'bounced', 'policy'],
  ['yandex.ru', '550 5.7.1 No such user!', 'bounced', 'address'],
  ['yandex.ru', '554 5.7.1 Message rejected under suspicion of SPAM', 'bounced', 'content'],
  ['mail.ru', '550 spam message rejected. Please visit http://help.mail.ru/notspam-support', 'bounced', 'content'],
  [
    'mail.ru',
    '550 Message was not accepted -- invalid mailbox. Local mailbox a@mail.ru is unavailable: user not found',
    'bounced',
    'address',
  ],
  [
    'gmx.de',
    '554 Bad DNS PTR resource record. For explanation visit https://postmaster.gmx.net',
    'bounced',
    'authentication',
  ],
  [
    'web.de',
    '550 Requested action not taken: mailbox unavailable invalid DNS MX or A/AAAA resource record',
    'bounced',
    'own_fault',
  ],
  ['gmx.de', '550 Requested action not taken: mailbox unavailable', 'bounced', 'address'],
  ['rspamd.example', '451 4.7.1 Try again later', 'deferred', 'greylisted'],
  // Codes of Google and Microsoft without their words: cut off, or repeated by a server in between.
  ['forwarder.example', '421 4.7.32 From: header is not aligned', 'deferred', 'authentication'],
  ['forwarder.example', '421-4.7.32', 'deferred', 'authentication'],
  ['forwarder.example', '451 4.7.40 Refused', 'deferred', 'authentication'],
  ['forwarder.example', '550 5.7.31 Refused', 'bounced', 'authentication'],
  ['forwarder.example', '451 4.7.515 Access denied', 'deferred', 'authentication'],
  ['forwarder.example', '550 5.7.509 Access denied', 'bounced', 'authentication'],
]

describe.each([
  ['Google', GOOGLE],
  ['Microsoft', MICROSOFT],
  ['Yahoo and Apple', YAHOO_AND_APPLE],
  ['China', CHINA],
  ['others', OTHERS],
])('%s', (_, cases) => {
  test.each(cases)('%s: %s', (domain, line, outcome, kind, slowDown) => {
    const reply = parseReply([line])
    if (!reply) throw new Error('not a reply')
    const expected = { outcome, kind, ...(slowDown && { slowDown }) }
    expect(classifyReply(reply, 'rcpt', siteOf(domain))).toEqual(expected)
  })
})

test('no refusal because of who sends, how fast or what is a hard bounce, and none for authentication slows a site down', () => {
  for (const [domain, line] of [...GOOGLE, ...MICROSOFT, ...YAHOO_AND_APPLE, ...CHINA, ...OTHERS]) {
    const classification = classifyReply(parseReply([line]) ?? { code: 0, text: '' }, 'dot', siteOf(domain))
    if (isHardBounce(classification)) expect(classification.kind).toBe('address')
    if (classification.kind === 'authentication') expect(classification.slowDown).toBeUndefined()
  }
})

test.each([
  '550 5.1.1 rejected: blocked using zen.spamhaus.org',
  '550 5.1.1 message refused, DMARC failed',
  '550 5.1.1 sending limit exceeded',
])('a text about the sender counts more than a code about the mailbox: %s', line => {
  const classification = classifyReply(parseReply([line]) ?? { code: 0, text: '' }, 'rcpt', 'b.example')
  expect(isHardBounce(classification)).toBe(false)
})
