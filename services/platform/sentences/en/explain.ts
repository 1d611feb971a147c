/** What became of a recipient, why, and what to do next: complete sentences. */

export const explain = {
  // What happened
  'explain.queued': 'The message is waiting for its first attempt.',
  'explain.scheduled': 'The message is scheduled for {at}.',
  'explain.held': 'Delivery is on hold. Held by {by}: {reason}',
  'explain.deferred': 'Attempt {attempt} failed. The next one is due at {next}; attempts end at {until}.',
  'explain.delivered': '{host} accepted the message at {at}.',
  'explain.delivered_somewhere': 'The receiving server accepted the message at {at}.',
  'explain.bounced': '{host} rejected the message permanently at {at}.',
  'explain.bounced_somewhere': 'The message was rejected permanently at {at}.',
  'explain.bounced_later': 'The message was accepted at first and bounced at {at}.',
  'explain.failed': 'Delivery failed at {at} and is not retried.',
  'explain.suppressed': 'Nothing was sent: the address is on the suppression list of the account.',
  'explain.canceled': 'The account canceled the delivery before it was complete.',
  'explain.complained': 'The message was delivered, and the recipient reported it as spam.',
  // Why
  'explain.why_accepted':
    'The server accepted responsibility for the message; whether it is in the inbox or in the spam folder is not reported.',
  'explain.why_address': 'The mailbox does not exist or does not accept mail.',
  'explain.why_mailbox_full': 'The mailbox of the recipient is full.',
  'explain.why_greylisted': 'The receiver defers mail from unknown senders (greylisting).',
  'explain.why_throttled': 'The receiver limits how much mail it accepts from this server or domain.',
  'explain.why_authentication':
    'The receiver could not verify that the mail comes from the domain of its From address.',
  'explain.why_reputation':
    'The receiver blocks the address, the host or the domain of the sender, or found it on a blocklist.',
  'explain.why_content': 'The receiver rejects the text of the message, or a link or an attachment in it.',
  'explain.why_policy': 'The receiver rejects the message because of a policy that it does not explain.',
  'explain.why_own_fault': 'The receiver says that this server breaks a rule of SMTP.',
  'explain.why_size': 'The message is larger than the receiver accepts.',
  'explain.why_unsupported': 'The receiving server lacks an SMTP extension that the message needs.',
  'explain.why_dns': 'DNS has no usable mail server for the domain of the recipient.',
  'explain.why_network': 'The mail servers of the recipient could not be reached, or the connection was lost.',
  'explain.why_tls': 'The domain of the recipient requires TLS, and no such connection could be established.',
  'explain.why_relay_login': 'The configured relay rejects the login of this installation.',
  'explain.why_signing': 'The message could not be signed or converted for this server.',
  'explain.why_other': 'The reply of the receiver gives no further reason.',
  'explain.why_ambiguous': 'The connection was lost after the message was sent and before the reply arrived.',
  'explain.why_expired': 'No attempt succeeded within the lifetime of the message.',
  // What to do next
  'explain.do_nothing': 'No action is needed.',
  'explain.do_wait': 'No action is needed now: delivery is retried automatically.',
  'explain.do_release': 'Release the hold under “Message log” when the mail may be sent.',
  'explain.do_check_address':
    'Correct the address, or remove it from your data. After a permanent rejection, further mail to it is suppressed.',
  'explain.do_other_channel': 'Contact the recipient another way, and send again later.',
  'explain.do_slow_down': 'Send to this receiver more slowly. Waiting mail is delivered automatically.',
  'explain.do_reputation':
    'Look up the sending address on the blocklists that the reply names, and ask the receiver to remove it. Admins of the installation find the addresses under “Sending addresses”.',
  'explain.do_content': 'Change subject, text, links or attachments as the reply says, and send again.',
  'explain.do_contact_receiver': 'Contact the postmaster of the receiving domain with the reply below.',
  'explain.do_contact_admin': 'Report the reply below to the admin of this installation.',
  'explain.do_smaller': 'Send links instead of large attachments.',
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
