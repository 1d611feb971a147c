/** What the API in the format of another service refuses by itself. */

export const compat = {
  'compat.key_missing': 'Missing API key: send Authorization: Bearer TOKEN.',
  'compat.not_served': '{method} {path} is not served here.',
  'compat.field_not_served': 'The field {field} is not served here.',
  'compat.value_not_served': 'The value {value} of {field} is not served here.',
  'compat.time':
    '{field} must be a time with its zone, as in 2026-12-24T18:00:00Z, or a time from now, as in "in 10 minutes".',
  'compat.batch_validation': 'x-batch-validation must be strict or permissive.',
  'compat.before': 'is not among the first {count} of the list',
  'compat.one_cursor': 'after and before cannot be given together.',
  'compat.attachment_empty': 'Attachment {index} has neither content nor path.',
  'compat.attachment_twice': 'Attachment {index} has both content and path.',
  'compat.attachment_octets': 'The content of attachment {index} must be base64, or bytes as a list of integers.',
  'compat.attachment_path': 'The path of attachment {index} must be an http or https address.',
  'compat.attachment_in_batch': 'Messages of a batch cannot have attachments by path.',
  'compat.attachment_target': 'Attachment {index} cannot be fetched: {reason}',
  'compat.attachment_status': 'Attachment {index} cannot be fetched: the server answered {status}.',
  'compat.attachment_large': 'The attachments have more than {limit} bytes.',
  'compat.attachments_busy': 'Too many attachments are being fetched; try again in a moment.',
  'compat.one_of': 'Give either emails or ids.',
} as const
