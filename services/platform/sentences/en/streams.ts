/** Streams, lists and how recipients leave them. */
export const streams = {
  'streams.unknown': 'X-Postwright-Stream must be transactional or bulk.',
  'streams.list_without_bulk': 'A list belongs to bulk mail: X-Postwright-List needs X-Postwright-Stream: bulk.',
  'streams.list_name':
    'must have 1 to 64 characters: a-z, 0-9, dot, hyphen and underscore, and begin with a letter or digit',
  'streams.url': 'must be an https URL of ASCII characters',
  'streams.for_bulk': 'is for bulk mail: set stream to "bulk"',
  'streams.incomplete_fields':
    'Gmail, Yahoo and Outlook want bulk mail that can be left by one click (RFC 8058): List-Unsubscribe needs an https address, and List-Unsubscribe-Post must be List-Unsubscribe=One-Click. Send both fields, or none: then they are added.',
  'streams.no_address':
    'Gmail, Yahoo and Outlook want bulk mail that can be left by one click (RFC 8058). This installation has no public https address for that (APP_BASE_URL): its administrator can set one, or send List-Unsubscribe and List-Unsubscribe-Post of your own.',
  'streams.unauthenticated':
    'Gmail, Yahoo and Outlook take at most {limit} messages a day from a domain without verified SPF, DKIM and DMARC records. {domain} has sent that much bulk mail to {provider} today. Complete its DNS records, or try again in {seconds} s.',
  'streams.unsubscribed_by_click': 'The recipient unsubscribed from {stream} by one click.',
  'streams.unsubscribed_on_page': 'The recipient unsubscribed from {stream} on the page.',
  'streams.unsubscribed_by_mail': 'The recipient unsubscribed from {stream} by mail.',
} as const
