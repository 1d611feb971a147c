/** Messages of the conditions of Kubernetes resources. */

export const resources = {
  // Any resource
  'resource.database_unavailable': 'The database does not answer; trying again.',
  'resource.forbidden':
    'The API server refused a request of the operator: {detail}. Trying again. If the namespace was deleted and made again, the Role of the operator is missing in it: helm upgrade creates it.',
  'resource.internal_error': 'An internal error occurred; the log of the operator has the details. Trying again.',
  'resource.paused': 'The annotation {annotation} is "paused": nothing is written for {name}.',
  'resource.spec_invalid': 'The spec is not valid: {errors}',
  'resource.refused': '{detail} {errors}',
  'resource.field_error': '{pointer} {reason}',
  'resource.account_withdrawn':
    'Namespace {namespace} may not act for the account {account} any more. {effect} Users who may change the Namespace can list the account in the annotation {annotation}.',
  'resource.account_gone':
    'The account no longer exists. {effect} Users who may change the Namespace can list another account in the annotation {annotation}.',
  'resource.account_not_allowed':
    'Namespace {namespace} may not act for the account {account}. Users who may change the Namespace can list it in the annotation {annotation}.',
  'resource.account_unknown': 'There is no account {account}.',
  'resource.force_delete': 'The annotation postwright.dev/force-delete: "true" deletes it at once.',
  // Secrets
  'resource.secret_foreign':
    'A Secret {name} exists that this resource did not create. Delete it, or choose another name in a new resource.',
  'resource.secret_written': 'The Secret {name} is written.',
  'resource.secret_refused': 'The API server refuses to write the Secret {name}: {reason}',
  // MailDomain
  'resource.domain_duplicate':
    'MailDomain {namespace}/{name} came first and declares {domain} for the same account. Delete one of them.',
  'resource.domain_exists':
    'The account {account} has the domain {domain} already, from the panel or from an earlier resource. To adopt it, set the annotation {adopt}: "true" here and list {account} in {annotation} of the Namespace.',
  'resource.spf_mechanism':
    'spec.spf.mechanisms has {mechanism}, which receivers cannot read. Write a mechanism with its value, as in ip4:192.0.2.0/24.',
  'resource.domain_accepted': '{domain} belongs to the account {account}.',
  'resource.domain_ready': '{domain} is verified and may send.',
  'resource.domain_suspended': 'spec.suspended is true.',
  'resource.domain_suspended_by_admin': 'An administrator suspended this domain.',
  'resource.domain_proven': 'Ownership and DKIM records are in public DNS.',
  'resource.domain_verified_by_admin': 'Verified by an administrator.',
  'resource.not_checked': 'Public DNS was not checked yet.',
  'resource.dns_no_answer': 'DNS did not answer.',
  'resource.verification_expired':
    'The ownership record and the DKIM record were not in public DNS within 14 days, and checks have ended. Publish them, and press Check now on the page of the domain or create this resource again.',
  'resource.proof_missing': 'The ownership record or the DKIM record is not in public DNS yet.',
  'resource.dkim_no_key': 'The domain has no active DKIM key.',
  'resource.dkim_rotating': '{selector} signs; {next} takes over when it is in DNS.',
  'resource.dkim_published': '{selector} signs and is in public DNS.',
  'resource.dkim_not_checked': '{name} was not checked yet.',
  // The DNS records of a MailDomain
  'resource.dns_provider_missing': 'There is no DNSProvider {name} in this namespace.',
  'resource.dns_provider_untested': 'DNSProvider {name} was not tested yet.',
  'resource.dns_provider_not_ready': 'DNSProvider {name} is not ready: {reason}',
  'resource.cluster_provider_unwatched':
    'ClusterDNSProvider {name} cannot be used: the operator watches some namespaces only (operator.watchNamespaces). Use a DNSProvider of this namespace.',
  'resource.cluster_provider_missing': 'There is no ClusterDNSProvider {name}.',
  'resource.cluster_provider_untested': 'ClusterDNSProvider {name} was not tested yet.',
  'resource.cluster_provider_not_ready': 'ClusterDNSProvider {name} is not ready: {reason}',
  'resource.cluster_provider_namespace':
    'ClusterDNSProvider {name} does not allow the namespace {namespace}. Nothing is written; records that were written stay as they are. An administrator of the cluster can allow the namespace in spec.allowedNamespaces.',
  'resource.cluster_provider_domain':
    'ClusterDNSProvider {name} does not allow the domain {domain}. Nothing is written; records that were written stay as they are. An administrator of the cluster can allow the domain in spec.allowedDomains.',
  'resource.cluster_provider_policy':
    'ClusterDNSProvider {name} does not allow spec.dns.conflictPolicy {policy}. Nothing is written; records that were written stay as they are.',
  'resource.cluster_provider_taken':
    'ClusterDNSProvider {name} writes the records of {domain} for another account already. Nothing is written until that MailDomain is deleted.',
  'dns_endpoint.disabled':
    'DNSEndpoint objects are turned off: set operator.dnsEndpoints to true in the values of the chart.',
  'dns_endpoint.namespace':
    'The namespace {namespace} may not publish records by external-dns. Nothing is written; a DNSEndpoint that was written stays as it is. An administrator of the installation can list the namespace in the setting DNS_ENDPOINT_NAMESPACES.',
  'dns_endpoint.domain':
    'The domain {domain} may not be published by external-dns. Nothing is written; a DNSEndpoint that was written stays as it is. An administrator of the installation can list the domain in the setting DNS_ENDPOINT_DOMAINS.',
  'dns_endpoint.metadata':
    'spec.dns.dnsEndpoint.{field} may not have {keys}. Nothing is written; a DNSEndpoint that was written stays as it is. Remove keys that begin with postwright.dev/, and with external-dns.alpha.kubernetes.io/ except external-dns.alpha.kubernetes.io/controller.',
  'dns_endpoint.foreign':
    'There is a DNSEndpoint {name} that this MailDomain did not create. Delete it, or give the MailDomain another name.',
  'dns_endpoint.forbidden':
    'The operator may not write DNSEndpoint objects; operator.dnsEndpoints of the chart grants it: {reason}',
  'dns_endpoint.unknown_kind':
    'The cluster does not know the kind DNSEndpoint: install the CustomResourceDefinition of external-dns.',
  'dns_endpoint.refused': 'The API server refuses the DNSEndpoint: {reason}',
  'dns_endpoint.published': 'external-dns has published all records of the DNSEndpoint.',
  'dns_endpoint.waiting':
    'external-dns has read the DNSEndpoint {name} and has not published these records: {records}. Its log says why; it needs --managed-record-types for TXT, CNAME and MX, and must own the record sets.',
  'dns_endpoint.unread':
    'external-dns has not read the DNSEndpoint {name}, which has these records: {records}. It needs --source=crd, rights on dnsendpoints and dnsendpoints/status, and filters that select the object.',
  'resource.dns_written': 'All records are written.',
  'resource.dns_record': '{name} {type}: {reason}',
  'resource.dns_zone_missing':
    '{reason} Add the zone at the provider, name another DNSProvider, or set spec.dns.managementPolicy to Observe.',
  'resource.dns_conflict': '{records} Resolve the conflict at the DNS provider; it is checked again every 15 minutes.',
  'resource.dns_conflict_acceptable':
    '{records} Resolve the conflict at the DNS provider, or set spec.dns.conflictPolicy to Adopt or Overwrite; it is checked again every 15 minutes.',
  'resource.dns_observed': 'Public DNS has all records.',
  'resource.dns_drifted':
    'Public DNS lacks these records that were written, or shows others: {records}. They are written again.',
  'resource.dns_guidance': 'Add these records at your DNS provider; status.records has their values: {records}.',
  'resource.draining':
    'No new mail is accepted for {domain}. Accepted messages: {count}. They may still be delivered, for at most five minutes. {hint}',
  'resource.draining_unknown':
    'No new mail is accepted for {domain}. Accepted mail may still be delivered, for at most five minutes. {hint}',
  'resource.dns_not_removed': 'The records cannot be removed yet: {reason} Trying for an hour. {hint}',
  // SMTPCredential and APIToken
  'resource.domain_missing': 'There is no MailDomain {name} in this namespace.',
  'resource.domain_not_accepted': 'MailDomain {name} is not accepted: {reason}',
  'resource.domain_not_registered': 'MailDomain {name} is not registered yet.',
  'resource.domain_unusable': 'MailDomain {name} cannot be used until then.',
  'resource.sender_outside_domain': '{address} in {field} is not an address of {domain}.',
  'resource.login_accepted': 'The login {username} sends for {domain}.',
  'resource.login_ready': 'The login {username} is stored in the Secret {name}.',
  'resource.login_disabled': 'The login {username} is disabled.',
  'resource.login_name_kept':
    '{reason} Until then {username} remains a login of that account: for another account create an SMTPCredential with another spec.username.',
  'resource.token_accepted': 'The token sends for {domain}.',
  'resource.token_ready': 'The token is stored in the Secret {name}.',
  'resource.token_scopes_mixed':
    'Scopes of the account (domains, suppressions, templates, webhooks) cannot be combined with scopes of emails and inbox: create an APIToken of its own for them.',
  'resource.token_revoked': 'The token is revoked.',
  // Template
  'resource.template_accepted': 'The template {name} belongs to the account {account}.',
  'resource.template_ready': 'Version {version} of the template {name} is published.',
  'resource.config_map_missing': 'There is no ConfigMap {name} in this namespace.',
  'resource.config_map_key_missing': 'The ConfigMap {name} has no key {key}, or its value is not text.',
  'resource.variable_default': 'The default of the variable {name} is not a JSON array.',
  // WebhookEndpoint
  'resource.webhook_accepted': 'Events of {owner} are sent to {host}.',
  'resource.webhook_ready': 'Events of {owner} are sent to {host}; the signing secret is stored in the Secret {name}.',
  'resource.webhook_off':
    'spec.enabled is false: no events are sent. The signing secret is stored in the Secret {name}.',
  'resource.webhook_off_record':
    'The webhook was disabled when this resource adopted it; set spec.enabled to true to send events.',
  'resource.webhook_answers': 'The receiver takes events, as far as there were any.',
  'resource.webhook_failing':
    'Every attempt since {since} failed. The delivery log of the webhook has the answers of the receiver.',
  'resource.webhook_disabled':
    'The platform disabled the webhook at {at}: {reason} Fix the receiver, and set the annotation {annotation} to the present time to send events again.',
  'resource.annotation_time': 'The annotation {annotation} is not a time like 2026-11-24T10:00:00Z.',
  'resource.domain_other_account':
    'MailDomain {name} belongs to another account than {other}. All domains of domainRefs belong to one account; spec.owner names it if it is given.',
  // DNSProvider
  'resource.credentials_secret_missing': 'There is no Secret {name} in this namespace.',
  'resource.credentials_secret_missing_in': 'There is no Secret {name} in the namespace {namespace}.',
  'resource.credentials_none_invalid': 'The settings of the provider are not valid: {errors}.',
  'resource.credentials_invalid': 'The Secret {name} has errors: {errors}',
  'resource.credentials_no_key': 'there is no key {key}',
  'resource.credentials_wrong_value': 'the value of {key} is not valid ({reason})',
  'resource.dns_account_accepted': 'The account belongs to {account}.',
  'resource.cluster_secret_namespace':
    "A ClusterDNSProvider may name Secrets of the operator's namespace only, and of those in the setting CLUSTER_DNS_SECRET_NAMESPACES: {namespace} is none of them.",
  'resource.cluster_provider_accepted': 'The account writes records of {domains} for the allowed namespaces.',
  'resource.credentials_accepted': 'The provider accepts the credentials. Zones: {count}.',
  'resource.credentials_refused': '{reason} Compare the Secret {name} and this spec with the settings at the provider.',
  'resource.dns_provider_in_use':
    'MailDomains that still use this account: {count} ({names}). Delete them or choose another DNSProvider for them.',
  // App, SubscriptionPlan and FeatureSwitch
  'resource.app_accepted': 'The app {app} is registered.',
  'resource.app_ready': 'The app {app} is registered; its keys are stored in the Secret {name}.',
  'resource.app_missing': 'There is no App {name} in this namespace.',
  'resource.app_not_accepted': 'App {name} is not accepted: {reason}',
  'resource.app_not_registered': 'App {name} is not registered yet.',
  'resource.app_not_listed':
    'Namespace {namespace} may not manage the app {app} any more, which it adopted. Users who may change the Namespace can list {app} in the annotation {annotation}.',
  'resource.app_duplicate': 'App {namespace}/{name} came first and declares {app}. Delete one of them.',
  'resource.app_exists':
    'The app {app} exists already. To adopt it, set the annotation {adopt}: "true" here and list {app} in {annotation} of the Namespace.',
  'resource.app_in_use': '{reason} Set deletionPolicy: Retain to delete this resource and keep the app.',
  'resource.sender_fallback': "{reason} Until then reminders come from the platform's own sender.",
  'resource.sender_domain_unverified':
    '{address} is in no verified domain of an active administrator. Verify its domain in an account with the role admin, or remove mailFrom.',
  'resource.sender_not_allowed':
    'Namespace {namespace} may not act for the administrator who owns the domain of {address}. Users who may change the Namespace can list the account in the annotation {annotation}.',
  'resource.sender_usable': 'Reminders come from {address}.',
  'resource.switch_ready': 'The switch {name} of {app} is as declared.',
  'resource.plan_ready': 'The plan {name} of {app} is as declared.',
} as const
