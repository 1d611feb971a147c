/** What becomes of a message whose domain or token does not let it go to its recipients (ADR 106). Decided once, at acceptance. */
import type { Diversion } from '../domains/rules/delivery-mode.ts'
import type { NewMessage, NewRecipient } from './store/message-documents.ts'

/** The part of a new message that a diversion decides. */
export type Diverted = Pick<NewMessage, 'recipients' | 'capture' | 'redirected_from'>

/** How {@link divertMessage} finds out which recipients are suppressed. */
export type MarkSuppressed = (recipients: readonly NewRecipient[]) => Promise<readonly NewRecipient[]>

/**
 * The strictest applies: a token that captures, then a domain that captures, then a domain that redirects. `recipients` are
 * the submitted ones, with their suppressions.
 */
export async function divertMessage(
  { capture, diversion }: { capture: boolean; diversion: Diversion | undefined },
  recipients: readonly NewRecipient[],
  markSuppressed: MarkSuppressed,
): Promise<Diverted> {
  if (capture) return { recipients, capture: 'token' }
  if (diversion === undefined) return { recipients }
  if (diversion.mode === 'capture') return { recipients, capture: 'domain' }
  return {
    recipients: await markSuppressed([{ email: diversion.to, type: 'to' }]),
    redirected_from: recipients.map(({ email, type }) => ({ email, type })),
  }
}
