/** Holds and actions on waiting mail. */
export const queueControl = {
  'detail.no_hold': 'There is no such hold that you could release.',
  'detail.holds_most': 'There can be {count} holds at most; release some.',
  'detail.actions_most': '{count} actions on the queue are under way; wait until some are finished.',
  'detail.queue_nothing_selected': 'There is no such account, domain or message.',
  'field.hold_until': 'must be in the future',
  'field.queue_destination': 'must be a provider or a domain',
} as const
