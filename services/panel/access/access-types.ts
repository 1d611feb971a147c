/** What the pages of this folder share. */
import type { Output } from '../api/client.ts'

/** An SMTP login as the API shows it. */
export type Credential = Output<'listCredentialsOperation'>['data'][number]

/** An API token as the API shows it. */
export type Token = Output<'listTokensOperation'>['data'][number]
