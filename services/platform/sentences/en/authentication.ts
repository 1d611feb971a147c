/** Mail that receivers refuse because they cannot verify its sender, and what to do about it. */

export const authentication = {
  'authentication.refused': '{site} rejects mail from {domain} ({status}). {hint}',
  'authentication.more': 'Other receivers that reject it: {count}.',
  'authentication.none': 'No receiver has rejected mail for failed authentication in the last 7 days.',
  'authentication.not_verified': 'The domain is not verified yet.',
  // What to do
  'authentication.fix_spf':
    'SPF did not pass: publish the SPF record of the domain so that it names the sending address, with at most 10 DNS look-ups.',
  'authentication.fix_dkim':
    'DKIM did not pass: publish the DKIM record of the domain, and let nothing change messages after they are signed.',
  'authentication.fix_alignment':
    'DMARC did not pass: the From address must have the domain that signs (DKIM) or the domain of the envelope sender (SPF).',
  'authentication.fix_dmarc_record': 'Publish a DMARC record at _dmarc of the domain, at least with p=none.',
  'authentication.fix_ptr':
    'Reverse DNS is missing or does not match: ask the owner of the sending address for a PTR record with the name of the sending host, and publish its A or AAAA record.',
  'authentication.fix_tls':
    'The receiver requires TLS: check that no firewall or proxy between worker and receiver removes STARTTLS.',
  'authentication.fix_several':
    'The receiver could not authenticate the message: publish the SPF, DKIM and DMARC records of the domain, and check the PTR record of the sending address.',
} as const
