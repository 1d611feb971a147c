/** What DNS providers and name servers refuse. */

export const dnsProviders = {
  // Any provider
  'dns_provider.credentials_lost': 'The credentials of the DNS account cannot be decrypted; store them again.',
  'dns_provider.limit_reached': 'The call limit of the DNS provider is used up; try again in {seconds} s.',
  'dns_provider.unreachable': 'The DNS provider cannot be reached.',
  'dns_provider.connection_lost': 'The connection to the DNS provider was lost before its answer.',
  'dns_provider.wait': 'The DNS provider asks to wait {seconds} s.',
  'dns_provider.no_json': 'The DNS provider answered {status} without JSON.',
  'dns_provider.unknown_form': 'The DNS provider answered in an unknown format.',
  'dns_provider.refused': '{provider} refused the request: {reason} ({code}).',
  'dns_provider.status': 'status {status}',
  'dns_provider.record_exists': 'The record exists.',
  'dns_provider.record_changed': 'The record was changed in the meantime.',
  'dns_provider.records_changed': 'The record set was changed in the meantime.',
  'dns_provider.cname_conflict':
    '{name} has a CNAME or other records, and a CNAME must be the only record of its name.',
  // Aliyun DNS
  'dns_provider.aliyun_suspended': 'Aliyun DNS has suspended the zone (black hole): it is not served.',
  'dns_provider.aliyun_permission': 'The access key lacks the RAM permission {permission}.',
  'dns_provider.aliyun_throttled': 'Aliyun asks for fewer calls.',
  // DNSPod
  'dns_provider.dnspod_status': 'The zone has the status {status} at DNSPod: it is not served.',
  'dns_provider.dnspod_delegation': 'The zone is not delegated to the name servers of DNSPod.',
  'dns_provider.dnspod_permission': 'The API secret lacks the CAM permission {permission}.',
  'dns_provider.dnspod_throttled': 'DNSPod asks for fewer calls.',
  // Cloudflare
  'dns_provider.cloudflare_ambiguous':
    'The zone {zone} is in {count} accounts of this token; store the zone id as well.',
  'dns_provider.cloudflare_status': 'The zone is {status} at Cloudflare: what is written there is not served yet.',
  'dns_provider.cloudflare_paused': 'The zone is paused at Cloudflare.',
  'dns_provider.cloudflare_partial': 'The zone is a partial (CNAME) setup: its DNS is served elsewhere.',
  'dns_provider.cloudflare_permission': 'The API token is not valid here or lacks the permission {permission}.',
  'dns_provider.cloudflare_wait': 'Cloudflare asks to wait {seconds} s.',
  // Servers with dynamic updates (RFC 2136)
  'dns_provider.host_unknown': 'The name of the DNS server {host} cannot be resolved.',
  'dns_provider.host_private': 'The DNS server {host} has a private address, which this installation does not allow.',
  'dns_provider.no_answer': 'The DNS server does not answer: {reason}.',
  'dns_provider.rcode': 'The DNS server answered {code}.',
  'dns_provider.update_refused': 'The server refuses updates of {zone} with this key (update policy).',
  'dns_provider.not_authoritative': 'The server is not authoritative for {zone}.',
  'dns_provider.the_zone': 'the zone',
  'dns_provider.delegated_away': '{name} is delegated away from {zone} on this server.',
  'dns_provider.tsig': 'TSIG: {reason}.',
  'dns_provider.tsig_missing': 'the answer is not signed',
  'dns_provider.tsig_bad_signature': 'the server rejects the signature',
  'dns_provider.tsig_bad_key': 'the server does not know the key',
  'dns_provider.tsig_wrong': 'the signature of the answer is wrong',
  'dns_provider.tsig_unreadable': 'the signature of the answer cannot be read',
  'dns_provider.tsig_clock': "the clocks differ: the server's is {seconds} s ahead of ours",
} as const
