import type { Transaction } from '../../../services/mail/delivery/smtp/transport.ts'

/** A transaction with a short message to one recipient, with the given changes. */
export const transaction = (given: Partial<Transaction> = {}): Transaction => ({
  origin: { messageId: 'em_1', userId: 'usr_1', deliveryId: 'em_1.0', domainId: 'dom_1' },
  from: 'a@example.com',
  recipients: [{ email: 'b@example.net' }],
  content: Buffer.from('Subject: hi\r\n\r\nhello\r\n'),
  eightBit: false,
  utf8: false,
  mark: async () => true,
  mayFinish: () => true,
  ...given,
})
