/** Content of the Secret of an SMTP login, after the Service Binding specification: pure but for the CA file. */
import { readFile } from 'node:fs/promises'
import type { Config } from '../../../services/platform/process/config.ts'

/** Where clients submit. */
export interface SmtpEndpoint {
  host: string
  /** PEM; absent when the certificate is publicly trusted. */
  ca?: string
}

/** Submission with STARTTLS (RFC 6409). */
const PORT = '587'

/** The host for an endpoint, and the CA that clients need to check its certificate. */
export async function smtpEndpoint(
  config: Pick<Config, 'MAIL_HOSTNAME' | 'SUBMISSION_HOST' | 'SUBMISSION_CLUSTER_HOST' | 'SUBMISSION_CA_FILE'>,
  endpoint: 'Public' | 'Cluster',
): Promise<SmtpEndpoint> {
  const outside = config.SUBMISSION_HOST ?? config.MAIL_HOSTNAME
  const host = endpoint === 'Cluster' ? (config.SUBMISSION_CLUSTER_HOST ?? outside) : outside
  return { host, ...(config.SUBMISSION_CA_FILE ? { ca: await readFile(config.SUBMISSION_CA_FILE, 'utf8') } : {}) }
}

/** Keys and values of the Secret. */
export function smtpSecretData({ host, ca }: SmtpEndpoint, username: string, password: string): Record<string, string> {
  const login = `${encodeURIComponent(username)}:${encodeURIComponent(password)}`
  return {
    type: 'smtp',
    provider: 'postwright',
    host,
    port: PORT,
    security: 'starttls',
    username,
    password,
    uri: `smtp://${login}@${host}:${PORT}`,
    ...(ca ? { 'ca.crt': ca } : {}),
  }
}
