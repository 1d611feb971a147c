/** The login provider by the settings. */
import type { Foundation } from '../../platform/process/run.ts'
import { createOidcProvider } from '../oidc-provider.ts'
import type { OidcLogins } from './deps.ts'

/** Page of the panel that the provider sends browsers back to. */
const CALLBACK_PAGE = '/oidc-callback'

/** Logins with the provider of OIDC_ISSUER; undefined without one. */
export function oidcLogins({
  config,
  clock,
  log,
}: Pick<Foundation, 'config' | 'clock' | 'log'>): OidcLogins | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_ROLE_CLAIM: claim } = config
  if (issuer === undefined || clientId === undefined) return undefined
  const provider = createOidcProvider(
    {
      ...{ issuer, clientId },
      secret: config.OIDC_CLIENT_SECRET,
      secretFile: config.OIDC_CLIENT_SECRET_FILE,
      scopes: config.OIDC_SCOPES,
      redirectUri: `${config.APP_BASE_URL}${CALLBACK_PAGE}`,
      neededClaims: claim === undefined ? [] : [claim],
    },
    { clock, log },
  )
  const role = claim === undefined ? undefined : { claim, adminValues: config.OIDC_ADMIN_VALUES }
  return {
    provider,
    policy: { createAccounts: config.OIDC_CREATE_ACCOUNTS, role },
    name: config.OIDC_NAME ?? new URL(issuer).hostname,
  }
}
