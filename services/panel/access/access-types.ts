import type { Output } from '../api/client.ts'

export type Credential = Output<'listCredentialsOperation'>['data'][number]

export type Token = Output<'listTokensOperation'>['data'][number]
