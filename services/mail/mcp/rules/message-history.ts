/** What of a message and its history is shown to a model. */

interface Entry {
  type: string
  recipient: string
}

/** Entries of the acceptance, which say nothing once there is a later one. */
const ACCEPTED: ReadonlySet<string> = new Set(['email.queued', 'email.scheduled'])

/**
 * The newest `limit` of the events, oldest first, of all recipients or of one; without the acceptance of recipients that have
 * a later event. `leftOut`: other events of these recipients are missing.
 */
export function newestEvents<E extends Entry>(
  events: readonly E[],
  { recipient, limit }: { recipient?: string | undefined; limit: number },
): { events: E[]; leftOut: boolean } {
  const own = events.filter(event => isOf(event.recipient, recipient))
  const later = new Set(own.filter(({ type }) => !ACCEPTED.has(type)).map(event => event.recipient))
  const shown = own.filter(event => !ACCEPTED.has(event.type) || !later.has(event.recipient))
  return { events: shown.slice(-limit), leftOut: shown.length > limit }
}

/** A message with the state of one recipient, in any case of its letters; without a recipient as it is. */
export function ofRecipient<M extends { recipients: { email: string }[]; waiting: { email: string }[] }>(
  message: M,
  recipient: string | undefined,
): M {
  const own = ({ email }: { email: string }) => isOf(email, recipient)
  return { ...message, recipients: message.recipients.filter(own), waiting: message.waiting.filter(own) }
}

/** True when a recipient of the message has the address, in any case of its letters. */
export function hasRecipient({ recipients }: { recipients: readonly { email: string }[] }, address: string): boolean {
  return recipients.some(({ email }) => isOf(email, address))
}

function isOf(email: string, recipient: string | undefined): boolean {
  return recipient === undefined || email.toLowerCase() === recipient.toLowerCase()
}
