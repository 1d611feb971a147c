/** Opens and clicks. */
export const tracking = {
  'tracking.opened': 'The message was opened.',
  'tracking.opened_by_program': 'A program fetched the image of the message; perhaps no person opened it.',
  'tracking.clicked': 'A link was followed: {url}',
  'tracking.clicked_by_program': 'A program followed a link: {url}',
  'tracking.off_opens':
    'Opens are not tracked for {domain}: turn tracking on in the settings of the domain, or leave track.opens out.',
  'tracking.off_clicks':
    'Clicks are not tracked for {domain}: turn tracking on in the settings of the domain, or leave track.clicks out.',
  'tracking.header': 'X-Postwright-Track must be off, opens or clicks.',
  'tracking.unreachable':
    'The record is there, but {url} does not lead to this installation: {reason} Mail leaves untracked until it does.',
  'tracking.other_answer': 'another service answered with status {status}.',
  'tracking.no_address': 'the host has no public address.',
  'tracking.connection': 'the connection failed ({error}).',
  'tracking.serve_host':
    'Let the reverse proxy pass requests of {host} to the panel, and give it a certificate for https.',
} as const
