/** Entries of the delivery log about reports that came in. They follow a code or a host: no capital, no full stop. */

export const inbound = {
  'inbound.bounced': 'the receiving server reports that it cannot deliver the message',
  'inbound.complained': 'the recipient complained about the message ({type})',
  'inbound.reported': 'the receiving server reports about the message: {action}',
} as const
