/** For each class of failures: the reason, who can change it, and what to do. */
import { type Sentence, sentence } from '../../../platform/sentences/sentence.ts'
import type { FailureKind } from '../../delivery/rules/failure-kinds.ts'

/**
 * On whose side the reason is. `sender_dns`: records of the sending domain, or of the sending address. `sending_address`:
 * the reputation of the address, host or domain that sends. `account`: a choice of the account itself. `service`: this
 * installation. `none`: nothing went wrong.
 */
export const RESPONSIBLE = [
  'none',
  'recipient',
  'receiver',
  'sender_dns',
  'content',
  'sending_address',
  'account',
  'service',
  'network',
  'unknown',
] as const

/** One side. */
export type Responsible = (typeof RESPONSIBLE)[number]

/** What to say of a class. */
interface KindExplanation {
  why: Sentence
  responsible: Responsible
  /** After a refusal for good. */
  next: Sentence
  /** Later attempts usually succeed without anybody doing anything. */
  passes?: true
}

/** The table of classes. */
export const KIND_EXPLANATIONS: Readonly<Record<FailureKind, KindExplanation>> = {
  address: {
    why: sentence('explain.why_address'),
    responsible: 'recipient',
    next: sentence('explain.do_check_address'),
  },
  mailbox_full: {
    why: sentence('explain.why_mailbox_full'),
    responsible: 'recipient',
    next: sentence('explain.do_other_channel'),
    passes: true,
  },
  greylisted: {
    why: sentence('explain.why_greylisted'),
    responsible: 'receiver',
    next: sentence('explain.do_send_again'),
    passes: true,
  },
  throttled: {
    why: sentence('explain.why_throttled'),
    responsible: 'receiver',
    next: sentence('explain.do_slow_down'),
  },
  authentication: {
    why: sentence('explain.why_authentication'),
    responsible: 'sender_dns',
    next: sentence('authentication.fix_several'),
  },
  reputation: {
    why: sentence('explain.why_reputation'),
    responsible: 'sending_address',
    next: sentence('explain.do_reputation'),
  },
  content: { why: sentence('explain.why_content'), responsible: 'content', next: sentence('explain.do_content') },
  policy: {
    why: sentence('explain.why_policy'),
    responsible: 'receiver',
    next: sentence('explain.do_contact_receiver'),
  },
  own_fault: {
    why: sentence('explain.why_own_fault'),
    responsible: 'service',
    next: sentence('explain.do_contact_admin'),
  },
  size: { why: sentence('explain.why_size'), responsible: 'content', next: sentence('explain.do_smaller') },
  unsupported: {
    why: sentence('explain.why_unsupported'),
    responsible: 'receiver',
    next: sentence('explain.do_convert'),
  },
  dns: {
    why: sentence('explain.why_dns'),
    responsible: 'recipient',
    next: sentence('explain.do_recipient_dns'),
  },
  network: {
    why: sentence('explain.why_network'),
    responsible: 'network',
    next: sentence('explain.do_unreachable'),
    passes: true,
  },
  tls: { why: sentence('explain.why_tls'), responsible: 'receiver', next: sentence('explain.do_receiver_tls') },
  relay_login: {
    why: sentence('explain.why_relay_login'),
    responsible: 'service',
    next: sentence('explain.do_contact_admin'),
  },
  signing: {
    why: sentence('explain.why_signing'),
    responsible: 'service',
    next: sentence('explain.do_contact_admin'),
  },
  other: {
    why: sentence('explain.why_other'),
    responsible: 'unknown',
    next: sentence('explain.do_contact_receiver'),
  },
}
