/** The state of the parts that mail needs. */

export const health = {
  'health.database_ok': 'The database answers.',
  'health.database_down': 'The database does not answer.',
  'health.clock_ok': "The clock of this machine agrees with the database's.",
  'health.clock_ahead':
    "The clock of this machine is {seconds} s ahead of the database's; check its time synchronization.",
  'health.clock_behind':
    "The clock of this machine is {seconds} s behind the database's; check its time synchronization.",
  'health.workers_ok': 'Running delivery workers: {count}.',
  'health.workers_none': 'No delivery worker is running; accepted mail waits.',
  'health.hostname_ok': 'The host identifies itself as {hostname}.',
  'health.hostname_private': 'MAIL_HOSTNAME {hostname} is not a public name; many receivers reject it.',
  'health.sending_ip_missing': 'SENDING_IP is not set; SPF and PTR cannot be checked for it.',
  'health.sending_ip_unused': 'Not needed for DELIVERY_MODE={mode}.',
  'health.sending_ip_set': '{addresses}',
  'health.proxy_untrusted':
    '{peer} sends forwarding headers and is not in TRUSTED_PROXIES: all clients behind it share its address and limits. If it is your reverse proxy, add its network.',
  'health.proxies_trusted': 'Forwarding headers are accepted from {networks}.',
  'health.proxies_none': 'No reverse proxy is trusted, and none was seen.',
  'health.queue_waits': 'The oldest due message has been waiting for {seconds} s.',
  'health.queue_empty': 'No message is waiting.',
} as const
