/** Access tokens for Azure: by the secret of an app registration, or by the token of the pod (workload identity). */
import type { Config } from '../../../../platform/process/config.ts'
import { sentence } from '../../../../platform/sentences/sentence.ts'
import type { CloudContext } from '../http-call.ts'
import { readIdentityToken, requestToken } from '../oauth-token.ts'
import { DnsProviderError } from '../provider.ts'
import type { CredentialsOf } from '../rules/dns-credentials.ts'

/** Where tokens come from, and what Azure Workload Identity sets in pods. */
export type AzureSettings = Pick<
  Config,
  'AZURE_AUTHORITY_HOST' | 'AZURE_TENANT_ID' | 'AZURE_CLIENT_ID' | 'AZURE_FEDERATED_TOKEN_FILE'
>

/** An access token for the management API at the endpoint. */
export async function azureToken(
  credentials: CredentialsOf<'azure'>,
  settings: AzureSettings,
  context: CloudContext,
): Promise<string> {
  const grant = { grant_type: 'client_credentials', scope: `${context.endpoint}/.default` }
  if (!('workload_namespace' in credentials)) {
    const { tenant_id, client_id, client_secret } = credentials
    return request(tenant_id, { ...grant, client_id, client_secret }, settings, context)
  }
  const { AZURE_TENANT_ID: tenant, AZURE_CLIENT_ID: client_id, AZURE_FEDERATED_TOKEN_FILE: file } = settings
  if (!tenant || !client_id || !file)
    throw new DnsProviderError('azure', 'auth', sentence('dns_provider.no_pod_identity', { provider: 'Azure' }))
  const assertion = {
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: await readIdentityToken('azure', file),
  }
  return request(tenant, { ...grant, client_id, ...assertion }, settings, context)
}

function request(
  tenant: string,
  grant: Readonly<Record<string, string>>,
  { AZURE_AUTHORITY_HOST: host }: AzureSettings,
  context: CloudContext,
): Promise<string> {
  return requestToken('azure', context, `${host}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`, grant)
}
