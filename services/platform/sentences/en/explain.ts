/** What became of a recipient, why, and what to do next: complete sentences. */

export const explain = {
  // What happened
  'explain.queued': 'The message waits for its first attempt.',
  'explain.scheduled': 'The message is scheduled for {at}.',
  'explain.held': 'Delivery is on hold. Held by {by}: {reason}',
  'explain.deferred': 'Attempt {attempt} failed. The next one is due at {next}; attempts end at {until}.',
  'explain.delivered': '{host} accepted the message at {at}.',
  'explain.delivered_somewhere': 'The receiving server accepted the message at {at}.',
  'explain.bounced': '{host} refused the message for good at {at}.',
  'explain.bounced_somewhere': 'The message was refused for good at {at}.',
  'explain.bounced_later': 'The message was accepted first, and came back as undeliverable at {at}.',
  'explain.failed': 'Delivery was given up at {at}.',
  'explain.suppressed': 'Nothing was sent: the address is on the suppression list of the account.',
  'explain.canceled': 'The account canceled the delivery before it was complete.',
  'explain.complained': 'The message was delivered, and the recipient reported it as unwanted.',
  // Why
  'explain.why_accepted':
    'The server took responsibility for the message; whether it is in the inbox or in the junk folder is not reported.',
  'explain.why_address': 'The mailbox does not exist, or takes no mail.',
  'explain.why_mailbox_full': 'The mailbox of the recipient is full.',
  'explain.why_greylisted': 'The receiver makes unknown senders wait (greylisting).',
  'explain.why_throttled': 'The receiver limits how much mail it takes from this server or domain in a time.',
  'explain.why_authentication':
    'The receiver could not verify that the mail comes from the domain of its From address.',
  'explain.why_reputation':
    'The receiver blocks the address, the host or the domain of the sender, or has it on a blocklist.',
  'explain.why_content': 'The receiver refuses what the message says, a link or an attachment in it.',
  'explain.why_policy': 'The receiver refuses the message by a policy that it does not explain.',
  'explain.why_own_fault': 'The receiver says that this server breaks a rule of SMTP.',
  'explain.why_size': 'The message is larger than the receiver accepts.',
  'explain.why_unsupported': 'The receiving server lacks an SMTP extension that the message needs.',
  'explain.why_dns': 'The DNS of the domain of the recipient gives no usable mail server.',
  'explain.why_network': 'The mail servers of the recipient could not be reached, or the connection ended.',
  'explain.why_tls': 'No TLS connection could be made that the policy of the domain of the recipient requires.',
  'explain.why_relay_login': 'The configured relay refuses the login of this installation.',
  'explain.why_signing': 'The message could not be signed or converted for this server.',
  'explain.why_other': 'The answer of the receiver does not say more.',
  'explain.why_ambiguous': 'The connection ended after the message was sent and before the reply came.',
  'explain.why_expired': 'No attempt succeeded within the lifetime of the message.',
  // What to do next
  'explain.do_nothing': 'Nothing is to be done.',
  'explain.do_wait': 'Nothing is to be done now: delivery is tried again by itself.',
  'explain.do_release': 'Release the hold under “Queue” when the mail may go out.',
  'explain.do_check_address':
    'Correct the address, or remove it from your data. Further mail to it is suppressed after a refusal for good.',
  'explain.do_other_channel': 'Contact the recipient in another way, and send again later.',
  'explain.do_slow_down': 'Send less to this receiver in a time. Waiting mail follows by itself.',
  'explain.do_reputation':
    'Look the sending address up on the blocklists named in the reply, and ask the receiver to remove it. An admin of the installation sees the addresses under “Sending addresses”.',
  'explain.do_content': 'Change subject, text, links or attachments as the reply says, and send again.',
  'explain.do_contact_receiver': 'Ask the postmaster of the receiving domain with the reply below.',
  'explain.do_contact_admin': 'Report the reply below to the admin of this installation.',
  'explain.do_smaller': 'Send a link in place of large attachments.',
  'explain.do_convert': 'Send the message with ASCII addresses, and its text as quoted-printable or base64.',
  'explain.do_recipient_dns':
    'Check the spelling of the domain. If it is right, its owner has to publish MX or address records.',
  'explain.do_unreachable':
    'Check the spelling of the domain. If it is right, its mail servers must be reachable from this installation.',
  'explain.do_receiver_tls':
    'The owner of the receiving domain has to repair the certificate of its mail servers or its MTA-STS policy.',
  'explain.do_verify_receipt': 'Ask the recipient whether the message arrived before you send it again.',
  'explain.do_remove_suppression':
    'If the address works again and the recipient wants the mail, remove it under “Suppressions”, then send again.',
  'explain.do_respect': 'Send this recipient no more mail of this kind. The address is suppressed.',
  'explain.do_send_again': 'Send the message again if it is still wanted.',
} as const
