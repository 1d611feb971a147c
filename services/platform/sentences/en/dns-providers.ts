/** What DNS providers and name servers refuse. */

export const dnsProviders = {
  // Any provider
  'dns_provider.credentials_lost': 'The credentials of the DNS account cannot be decrypted; store them again.',
  'dns_provider.limit_reached': 'The call limit of the DNS provider is used up; try again in {seconds} s.',
  'dns_provider.unreachable': 'The DNS provider cannot be reached.',
  'dns_provider.connection_lost': 'The connection to the DNS provider was lost before its answer.',
  'dns_provider.timeout': 'The DNS provider did not answer in time.',
  'dns_provider.answer_too_long': 'The DNS provider answered with more than {bytes} bytes.',
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
  'dns_provider.foreign_set':
    'The {type} records of {name} have a routing policy or belong to another program; they are not changed.',
  'dns_provider.zone_gone': 'The account no longer holds the zone {zone}.',
  'dns_provider.identity_not_allowed':
    'The namespace {namespace} may not use the cloud identity of the installation; the setting DNS_WORKLOAD_IDENTITY_NAMESPACES allows it.',
  'dns_provider.outside_scope': '{name} is outside of the domains that this DNS account may write: {domains}.',
  'dns_provider.no_pod_identity': 'The pods of the installation have no {provider} identity.',
  'dns_provider.identity_token_missing': 'The token of the pod cannot be read from {file}.',
  'dns_provider.identity_refused': 'The service for the identity of pods answered {status}.',
  'dns_provider.token_refused': 'The cloud refused to give an access token: {reason} ({code}).',
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
  // Webhook providers of external-dns
  'dns_provider.private_host':
    'The DNS provider {host} has a private address; an administrator can allow it for this account in the setting DNS_PRIVATE_WEBHOOKS.',
  'dns_provider.webhook_tls':
    'The DNS provider {host} is called without TLS; inside a private network an administrator can allow that for this account in the setting DNS_PRIVATE_WEBHOOKS.',
  'dns_provider.webhook_too_many':
    'The DNS provider answered with {count} record sets; at most {most} are read. Let it serve fewer zones.',
  'dns_provider.webhook_media_type':
    'The server does not speak version 1 of the webhook protocol of external-dns: its media type is "{type}".',
  'dns_provider.webhook_zones':
    'The webhook provider names no zones (its domain filter is empty or an expression); name the zones in the account.',
  'dns_provider.webhook_zone_unserved': 'The domain filter of the webhook provider does not include the zone {zone}.',
  'dns_provider.webhook_name_unserved': 'The domain filter of the webhook provider does not include {name}.',
  'dns_provider.webhook_refused': 'The webhook provider answered {status} to {request}.',
  'dns_provider.webhook_refused_text': 'The webhook provider answered {status} to {request}: {text}',
  'dns_provider.webhook_unsupported': 'The webhook provider does not accept a {type} record at {name}.',
  'dns_provider.webhook_mangled':
    'The webhook provider stores other {type} values at {name} than those that it was given.',
  'dns_provider.webhook_ambiguous':
    'The webhook provider returns the {type} values of {name} in parts that cannot be told apart; change them there.',
  // Amazon Route 53
  'dns_provider.route53_permission': 'The AWS identity lacks the IAM permission {permission}.',
  'dns_provider.route53_ambiguous':
    'The AWS account has {count} public hosted zones for {zone}; store the hosted zone id as well.',
  'dns_provider.route53_private': 'The hosted zone {zone} is private: it is not served in public DNS.',
  // Google Cloud DNS
  'dns_provider.google_permission':
    'The Google identity lacks the permission {permission}, or the Cloud DNS API is not enabled in the project.',
  'dns_provider.google_ambiguous':
    'The project has {count} public managed zones for {zone}; store the name of the managed zone as well.',
  'dns_provider.google_key': 'The private key of the service account cannot be read.',
  'dns_provider.google_project': 'The metadata server names no project; name it in the provider.',
  // Azure DNS
  'dns_provider.azure_permission': 'The Azure identity lacks the permission {permission}.',
  'dns_provider.azure_ambiguous':
    'The subscription has {count} zones {zone} in several resource groups; store the resource group as well.',
} as const
