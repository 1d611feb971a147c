/** The keys for AWS: those of the account, or temporary ones for the role of this process's pod. */
import { z } from 'zod'
import type { Config } from '../../../../platform/process/config.ts'
import { sentence } from '../../../../platform/sentences/sentence.ts'
import { type CloudContext, callJson, callProvider, type HttpCall, type JsonAnswer, readAnswer } from '../http-call.ts'
import { readIdentityToken } from '../oauth-token.ts'
import { DnsProviderError } from '../provider.ts'
import { awsError } from './aws-errors.ts'
import type { AwsKeys } from './signature.ts'
import { child, parseXml, textAt } from './xml.ts'

/** What EKS sets in pods: IAM roles for service accounts, or Pod Identity. */
export type AwsPod = Pick<
  Config,
  | 'AWS_ROLE_ARN'
  | 'AWS_WEB_IDENTITY_TOKEN_FILE'
  | 'AWS_CONTAINER_CREDENTIALS_FULL_URI'
  | 'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE'
  | 'AWS_STS_URL'
>

const podIdentitySchema = z.object({ AccessKeyId: z.string(), SecretAccessKey: z.string(), Token: z.string() })

/** Temporary keys of the pod. Throws {@link DnsProviderError} `auth` in a pod without an identity. */
export async function podKeys(pod: AwsPod, context: CloudContext): Promise<AwsKeys> {
  const { AWS_ROLE_ARN: role, AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile } = pod
  if (role && tokenFile) return roleKeys(pod.AWS_STS_URL, role, await readIdentityToken('route53', tokenFile), context)
  const { AWS_CONTAINER_CREDENTIALS_FULL_URI: url, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: authorization } = pod
  if (url && authorization) return podIdentityKeys(url, await readIdentityToken('route53', authorization), context)
  throw new DnsProviderError('route53', 'auth', sentence('dns_provider.no_pod_identity', { provider: 'AWS' }))
}

async function roleKeys(sts: string, role: string, token: string, context: CloudContext): Promise<AwsKeys> {
  const form = new URLSearchParams({
    ...{ Action: 'AssumeRoleWithWebIdentity', Version: '2011-06-15' },
    ...{ RoleArn: role, RoleSessionName: 'postwright', WebIdentityToken: token },
  })
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const call: HttpCall = {
    ...{ operation: 'AssumeRoleWithWebIdentity', write: false, method: 'POST', url: `${sts}/` },
    ...{ headers, body: form.toString() },
  }
  const root = await callProvider(
    'route53',
    context,
    call,
    answer => ({ answer, root: parseXml(answer.body) }),
    ({ answer, root: element }) => awsError(answer, element, 'sts:AssumeRoleWithWebIdentity', context.now()),
  )
  const keys = child(child(root.root, 'AssumeRoleWithWebIdentityResult'), 'Credentials')
  const [id, secret, session] = ['AccessKeyId', 'SecretAccessKey', 'SessionToken'].map(name => textAt(keys, name))
  if (!id || !secret || !session)
    throw new DnsProviderError('route53', 'unavailable', sentence('dns_provider.unknown_form'))
  return { id, secret, token: session }
}

async function podIdentityKeys(url: string, authorization: string, context: CloudContext): Promise<AwsKeys> {
  const call: HttpCall = {
    ...{ operation: 'PodIdentity', write: false, method: 'GET', url },
    headers: { authorization },
  }
  const errorOf = ({ status }: JsonAnswer) =>
    status < 400
      ? undefined
      : new DnsProviderError('route53', 'auth', sentence('dns_provider.identity_refused', { status }), {
          code: String(status),
        })
  const { json } = await callJson('route53', context, call, errorOf)
  const { AccessKeyId, SecretAccessKey, Token } = readAnswer('route53', podIdentitySchema, json)
  return { id: AccessKeyId, secret: SecretAccessKey, token: Token }
}
