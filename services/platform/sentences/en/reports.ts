/** DMARC and TLS reports: why one is refused, and what the summary of a source means. */

export const reports = {
  // Why a report is refused
  'report.file_too_large': 'The file has more than {limit} MiB.',
  'report.inflates_too_much': 'The report has more than {limit} MiB after decompression, or too much for its file.',
  'report.archive_damaged': 'The compressed file is damaged.',
  'report.archive_entries': 'The archive must contain exactly one report (.xml or .json), without a password.',
  'report.unknown_format': 'The file is neither a DMARC report in XML nor a TLS report in JSON, plain, gzip or zip.',
  'report.document_type': 'The XML declares a document type or entities, which reports do not have.',
  'report.not_well_formed': 'The XML is not well-formed.',
  'report.not_a_report': 'The XML is not a DMARC report: its root element is not "feedback".',
  'report.not_json': 'The JSON cannot be read: {reason}.',
  'report.too_deep': 'The elements of the report are nested too deeply.',
  'report.field_too_long': 'A field of the report has more than {count} characters.',
  'report.field_missing': 'The report has no valid {field}.',
  'report.too_many_records': 'The report has more than {count} records.',
  'report.no_valid_records': 'None of the {count} records of the report is valid.',
  'report.period': 'The period of the report is not valid, is in the future, or began more than {days} days ago.',
  'report.other_domain': 'The report is about {reported}, not about {domain}.',
  'report.no_attachment': 'The message has no attachment that can be a report.',
  'report.busy': 'Too many reports are being read now.',
  // What a source of mail is, by the results that receivers reported
  'report.ours': 'This installation sends this mail, and it passes.',
  'report.ours_failing':
    'This installation sends this mail, but it fails. Check the DKIM and SPF records of the domain.',
  'report.authorised': 'Another server that the SPF record or a DKIM key of the domain authorizes.',
  'report.forwarder':
    'The DKIM signature passes and SPF does not, as for mail that a forwarder or a mailing list passed on. No action is needed.',
  'report.forwarder_failing':
    'Receivers know this mail as forwarded, and its signature was broken on the way. Forwarders and mailing lists cause this; no action is needed.',
  'report.misconfigured':
    'SPF or DKIM passes, but for another domain. If it is a service of yours, configure it to sign with a DKIM key of your domain.',
  'report.forged':
    'Neither SPF nor DKIM passes. It is forged mail, or a server of yours that is not configured: then add it to SPF and sign its mail.',
  'report.other_sources': 'Further sources, added up because there were too many to keep each.',
} as const
