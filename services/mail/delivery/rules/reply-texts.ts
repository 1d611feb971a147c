/** What servers say in words, as Postfix, Exim, qmail, Exchange and filters in front of them do: for codes that say little. */
import type { ReplyRow } from './failure-kinds.ts'

/** First match wins: from texts that name their reason to such that only refuse. */
export const REPLY_TEXTS: readonly ReplyRow[] = [
  { codes: /^4/, text: /gr[ea]y-?\s?list/i, kind: 'greylisted' },
  {
    text: /\b(?:spf|dkim|dmarc)\b.{0,80}\b(?:fail\w*|not pass|reject\w*|policy|invalid|missing|violat\w*|align\w*|required)|\b(?:fail\w*|pass|reject\w*|violat\w*|align\w*|require\w*)\b.{0,60}\b(?:spf|dkim|dmarc|sender policy framework)\b/i,
    kind: 'authentication',
  },
  {
    text: /unauthenticated (?:e-?mail|message|sender)|(?:sender|because it) is unauthenticated|pass authentication checks|required authentication level|not sent over a TLS connection/i,
    kind: 'authentication',
  },
  {
    text: /(?:\bPTR\b|reverse[- ]?(?:dns|hostname|lookup)|\brdns\b).{0,60}(?:not found|fail\w*|miss\w*|does ?n.t|no\b|invalid|required|must)|(?:no|without|missing|cannot find your|valid|must have) (?:a )?(?:\w+ )?(?:\bPTR\b|reverse|\brdns\b|hostname)/i,
    kind: 'authentication',
  },
  {
    text: /relay(?:ing)?(?: access)? (?:denied|not (?:permitted|allowed)|prohibited|disallowed)|(?:unable|not (?:allowed|permitted)) to relay|rcpthosts|sender verif\w* fail|sender address.{0,80}(?:domain (?:not found|does not exist)|user unknown|undeliverable)|domain of sender address|fully-qualified hostname|helo command rejected|too many hops|hop count exceeded|\bloop(?:ing|s back)?\b|bare (?:cr|lf)\b|RFC ?5322|client (?:was|is) not authenticated|authentication (?:is )?required/i,
    kind: 'own_fault',
  },
  {
    text: /spamhaus|spamcop|\bsorbs\b|uceprotect|abusix|senderscore|barracuda ?(?:reputation|central)|\bdnsbl\b|\brbl\b|\b(?:black|block|deny) ?list(?:ed)?\b|\breputation\b|\bbanned\b|(?:\bip\b|\[[\d.:a-f]+\]|network|client host|your (?:host|server|domain)).{0,40}\b(?:blocked|blacklisted|denied)\b/i,
    kind: 'reputation',
  },
  {
    codes: /^4/,
    text: /\brate(?:d|limit\w*)?\b|too (?:many|much|fast|quick|often)|throttl|frequen|slow(?:er)? down|\bbusy\b/i,
    kind: 'throttled',
    slow: true,
  },
  {
    codes: /^5/,
    text: /(?:rate|sending) limit|too many (?:messages|connections)|quota of messages/i,
    kind: 'throttled',
  },
  {
    text: /(?:mailbox|account|user|recipient|inbox)\b.{0,30}\b(?:full|over ?quota)|over ?quota|quota exceeded|exceed\w*.{0,20}quota|insufficient (?:mailbox )?storage|mailbox size limit|out of (?:storage|disk) space/i,
    kind: 'mailbox_full',
  },
  {
    text: /(?<!your )\b(?:user|mailbox|recipient|address|account)\b.{0,40}\b(?:unknown|not found|not exist|doesn'?t (?:exist|have)|invalid|no such|disabled|unavailable|deactivated|inactive)\b|no such (?:user|mailbox|recipient|address|person)|(?:unknown|invalid|unavailable|undeliverable|unrouteable|unroutable) (?:mail )?(?:user|recipient|mailbox|address|local ?part)|not a (?:known|valid) (?:user|mailbox|recipient)|no mailbox here|does(?:n.t| not) exist|unknown or illegal|local user \[/i,
    kind: 'address',
  },
  {
    text: /\bspam\b|\bvirus|malware|phish|unsolicited|content (?:rejected|denied|refused|not allowed|filter)|(?:illegal|forbidden|blocked|dangerous) (?:attachment|file)|security polic/i,
    kind: 'content',
  },
  {
    text: /(?:message|mail) (?:size )?(?:is )?(?:too (?:big|large)|exceeds)|size limit|databytes limit|maximum (?:message )?size/i,
    kind: 'size',
  },
  { codes: /^5/, text: /polic(?:y|ies)|prohibit|not allowed|denied|refus|reject|block/i, kind: 'policy' },
]
