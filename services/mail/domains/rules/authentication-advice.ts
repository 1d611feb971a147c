/** What to do about a refusal for failed authentication, by the words and the code of the receiver. */
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'

/** A refusal as the receiver sent it. */
export interface AuthenticationReply {
  enhanced?: string | undefined
  text: string
}

const REMEDIES = {
  spf: sentence('authentication.fix_spf'),
  dkim: sentence('authentication.fix_dkim'),
  alignment: sentence('authentication.fix_alignment'),
  dmarc_record: sentence('authentication.fix_dmarc_record'),
  ptr: sentence('authentication.fix_ptr'),
  tls: sentence('authentication.fix_tls'),
  several: sentence('authentication.fix_several'),
} as const

type Remedy = keyof typeof REMEDIES

/** First match wins. Words come first: Google and IANA use 23, 27, 29 and 30 for different things. */
const WORDS: readonly [RegExp, Remedy][] = [
  [/\bPTR\b|reverse[- ]?(?:dns|hostname|lookup)|\brdns\b|your hostname|反向解析/i, 'ptr'],
  [/\bTLS\b|STARTTLS/i, 'tls'],
  [/DMARC record|DMARC policy in place|specify a DMARC policy/i, 'dmarc_record'],
  [/\baligned\b|alignment|\bDT:SUM\b/i, 'alignment'],
  [/\bSPF\b.{0,80}\bDKIM\b|\bDKIM\b.{0,80}\bSPF\b/is, 'several'],
  [/\bDMARC\b|\bMI:DMA\b/i, 'alignment'],
  [/\bSPF\b|sender policy framework|\bMI:SPF\b|remote ip check/i, 'spf'],
  [/\bDKIM\b/i, 'dkim'],
]

/** RFC 7372 and RFC 7505, and codes that Google and Microsoft added. */
const CODES: Readonly<Record<string, Remedy>> = {
  '7.20': 'dkim',
  '7.21': 'dkim',
  '7.22': 'alignment',
  '7.23': 'spf',
  '7.24': 'spf',
  '7.25': 'ptr',
  '7.27': 'spf',
  '7.30': 'dkim',
  '7.31': 'dmarc_record',
  '7.32': 'alignment',
  '7.40': 'dmarc_record',
  '7.509': 'alignment',
}

/** One sentence that names the record or the setting. */
export function authenticationAdvice({ enhanced, text }: AuthenticationReply): Sentence {
  const remedy = WORDS.find(([pattern]) => pattern.test(text))?.[1] ?? CODES[enhanced?.slice(2) ?? ''] ?? 'several'
  return REMEDIES[remedy]
}
