/** Errors of AWS in XML, as errors of the provider. */
import { verbatim } from '../../../../platform/sentences/compose.ts'
import { sentence } from '../../../../platform/sentences/sentence.ts'
import { secondsToWait, type TextAnswer } from '../http-call.ts'
import { DnsProviderError, type ProviderErrorKind } from '../provider.ts'
import { child, listAt, textAt, type XmlElement } from './xml.ts'

const ERROR_KINDS: readonly [RegExp, ProviderErrorKind][] = [
  [/^(Throttling|ThrottlingException|PriorRequestNotComplete|RequestLimitExceeded|LimitsExceeded)$/, 'rate_limited'],
  [/^(AccessDenied|AccessDeniedException|NotAuthorizedException|UnauthorizedOperation)$/, 'permission'],
  [
    /^(InvalidClientTokenId|UnrecognizedClientException|SignatureDoesNotMatch|ExpiredToken|ExpiredTokenException|RequestExpired|InvalidSignatureException|IncompleteSignature|MissingAuthenticationToken|InvalidIdentityToken|IDPRejectedClaim|OptInRequired|InvalidAccessKeyId)$/,
    'auth',
  ],
  [/^NoSuchHostedZone$/, 'zone_not_found'],
  [/^(ServiceUnavailable|InternalFailure|InternalError|InternalServiceError)$/, 'unknown_outcome'],
]
const CHANGE_BATCH = 'InvalidChangeBatch'
/** Of the messages of an InvalidChangeBatch: the sets are not as they were read, or an alias is beside other records. */
const CHANGED = /but it was not found|do not match the current values|but it already exists/
const CONFLICT = /conflicts with other records/
/** Seconds to wait after a throttled call; the error names no time. */
const THROTTLED_WAIT = 5

/** The error in an answer; undefined for success. `permission`: the action that was called. */
export function awsError(
  { status, headers }: TextAnswer,
  root: XmlElement | undefined,
  permission: string,
  now: Date,
): DnsProviderError | undefined {
  if (status < 300 && root) return undefined
  const error = child(root, 'Error')
  // Refused changes have two forms: with the code in the error, and as an element with messages.
  const code = root?.name === CHANGE_BATCH ? CHANGE_BATCH : (textAt(error, 'Code') ?? String(status))
  const requestId = textAt(root, 'RequestId') ?? headers.get('x-amzn-requestid') ?? undefined
  const more = { code, ...(requestId ? { requestId } : {}) }
  const message = textAt(error, 'Message') ?? listAt(root, 'Messages')[0]?.text
  if (code === CHANGE_BATCH) return refusal(kindOfBatch(message ?? ''), message, status, more)
  const kind = ERROR_KINDS.find(([pattern]) => pattern.test(code))?.[1] ?? kindOfStatus(status)
  if (kind === 'permission')
    return new DnsProviderError('route53', kind, sentence('dns_provider.route53_permission', { permission }), {
      ...more,
      permission,
    })
  if (kind === 'rate_limited') {
    const retryAfter = secondsToWait(headers.get('retry-after'), now, THROTTLED_WAIT)
    return new DnsProviderError('route53', kind, sentence('dns_provider.wait', { seconds: retryAfter }), {
      ...{ ...more, retryAfter },
    })
  }
  return refusal(kind, message, status, more)
}

function refusal(
  kind: ProviderErrorKind,
  message: string | undefined,
  status: number,
  more: { code: string; requestId?: string },
): DnsProviderError {
  const reason = message ? verbatim(message) : sentence('dns_provider.status', { status })
  const { code } = more
  return new DnsProviderError(
    'route53',
    kind,
    sentence('dns_provider.refused', { provider: 'AWS', reason, code }),
    more,
  )
}

function kindOfBatch(message: string): ProviderErrorKind {
  if (CHANGED.test(message)) return 'changed'
  return CONFLICT.test(message) ? 'conflict' : 'invalid'
}

/** An answer without a known code: of a gateway, or of a service that failed. */
function kindOfStatus(status: number): ProviderErrorKind {
  if (status === 429) return 'rate_limited'
  if (status === 403) return 'auth'
  return status >= 500 || status < 300 ? 'unknown_outcome' : 'invalid'
}
