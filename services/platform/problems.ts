/**
 * The one register of what can be refused: HTTP status, SMTP reply and the sentence that says it. It feeds the
 * answers of every channel and the generated `docs/errors.md`.
 */

/** How one refusal looks on each channel. `smtp` is the reply code with its enhanced code (RFC 3463). */
export interface Problem {
  http: number
  smtp?: `${number} ${number}.${number}.${number}`
  /** `code` in the envelope of the Subscription Administration API: HTTP status x 100 + n. */
  envelope?: number
  title: string
  /** The title in Chinese; every problem with an envelope code has one. */
  zh?: string
}

/** All problems by their stable code. */
export const problems = {
  invalid_json: { http: 400, envelope: 40001, title: 'The body is not valid JSON.', zh: '请求体不是有效的 JSON' },
  invalid_request: { http: 400, envelope: 40002, title: 'The request cannot be understood.', zh: '无法理解该请求' },
  invalid_token: { http: 401, title: 'The token is missing, unknown, expired or revoked.' },
  not_logged_in: { http: 401, envelope: 40101, title: 'Log in first.', zh: '请先登录' },
  invalid_login: {
    http: 401,
    smtp: '535 5.7.8',
    envelope: 40103,
    title: 'Wrong user name or password.',
    zh: '用户名或密码错误',
  },
  csrf_header_missing: {
    http: 403,
    envelope: 40302,
    title: 'Writes by session need the header x-csrf.',
    zh: '通过会话写入需要 x-csrf 请求头',
  },
  insufficient_scope: { http: 403, title: 'The token lacks the scope for this.' },
  forbidden: { http: 403, envelope: 40301, title: 'Your role does not allow this.', zh: '当前角色没有此权限' },
  domain_not_verified: { http: 403, smtp: '550 5.7.1', title: 'The sender domain is not verified yet.' },
  sender_not_allowed: { http: 403, smtp: '550 5.7.1', title: 'You may send only from your own domains.' },
  account_suspended: { http: 403, smtp: '535 5.7.8', title: 'The account is suspended.' },
  not_found: { http: 404, envelope: 40400, title: 'There is no such thing here.', zh: '接口不存在' },
  method_not_allowed: {
    http: 405,
    envelope: 40501,
    title: 'The address does not know this method.',
    zh: '该地址不支持此方法',
  },
  conflict: { http: 409, title: 'This conflicts with what exists.' },
  too_many_domains: { http: 409, title: 'The account has as many domains as it may have.' },
  managed_by_resource: {
    http: 409,
    envelope: 40907,
    title: 'A Kubernetes resource manages this record; change it there.',
    zh: '该记录由 Kubernetes 资源管理，请在资源中修改',
  },
  password_not_copyable: {
    http: 409,
    title: 'The stored password cannot be read; set the password again to copy it.',
  },
  idempotency_answer_lost: {
    http: 409,
    envelope: 40911,
    title: 'The first request with this key changed something, but its answer was lost; read what is there.',
    zh: '相同幂等键的首次请求已产生变更，但其应答丢失，请查询现状',
  },
  idempotency_in_progress: {
    http: 409,
    envelope: 40906,
    title: 'A request with this idempotency key is still running.',
    zh: '相同幂等键的请求仍在处理中',
  },
  not_cancelable: { http: 409, title: 'Nothing of this message can be canceled any more.' },
  message_too_large: {
    http: 413,
    smtp: '552 5.3.4',
    envelope: 41301,
    title: 'The message is too large.',
    zh: '请求体过大',
  },
  unsupported_media_type: {
    http: 415,
    envelope: 41501,
    title: 'Send JSON with Content-Type: application/json.',
    zh: '不支持的内容类型',
  },
  validation_failed: { http: 422, envelope: 42200, title: 'Some fields are not valid.', zh: '参数校验失败' },
  unsupported_field: { http: 422, title: 'A field is not supported yet.' },
  idempotency_key_reused: {
    http: 422,
    smtp: '554 5.7.1',
    title: 'This idempotency key was used with another body.',
  },
  rate_limited: {
    http: 429,
    smtp: '451 4.7.1',
    envelope: 42901,
    title: 'Too many requests; try again later.',
    zh: '请求过于频繁，请稍后再试',
  },
  quota_exceeded: { http: 429, smtp: '452 4.7.1', title: 'The hourly limit is used up; try again later.' },
  daily_quota_exceeded: {
    http: 429,
    smtp: '452 4.7.1',
    title: 'The daily limit of recipients is used up; it starts anew at 00:00 UTC.',
  },
  internal: {
    http: 500,
    smtp: '451 4.3.0',
    envelope: 50000,
    title: 'Something went wrong on our side.',
    zh: '服务器内部错误',
  },
  queue_unavailable: { http: 503, smtp: '451 4.3.0', title: 'The queue cannot take the message now; try again later.' },
  login_unavailable: { http: 503, smtp: '454 4.7.0', title: 'Logins cannot be checked now; try again later.' },
  too_many_clients: { http: 503, smtp: '421 4.7.0', title: 'Too many connections; try again later.' },
  too_many_logins: { http: 429, smtp: '421 4.7.0', title: 'Too many failed logins on this connection.' },
  too_slow: { http: 408, smtp: '421 4.4.2', title: 'The client took too long.' },
  unavailable: {
    http: 503,
    smtp: '421 4.3.2',
    envelope: 50301,
    title: 'The service is not available now; try again later.',
    zh: '服务暂不可用，请稍后再试',
  },
  authentication_required: { http: 401, smtp: '530 5.7.0', title: 'Authentication required.' },
  network_not_allowed: { http: 403, smtp: '535 5.7.8', title: 'This login may not be used from your network.' },
  null_sender_refused: { http: 422, smtp: '550 5.7.1', title: 'An empty envelope sender cannot be submitted.' },
  unknown_parameter: { http: 422, smtp: '555 5.5.4', title: 'The command has a parameter that is not offered.' },
  bad_recipient: { http: 422, smtp: '553 5.1.3', title: 'The recipient address is not valid.' },
  too_many_recipients: { http: 422, smtp: '452 4.5.3', title: 'Too many recipients in one message.' },
  bad_line_endings: {
    http: 422,
    smtp: '550 5.6.0',
    title: 'The message has a bare CR or LF; lines end in CRLF (RFC 5321 2.3.8).',
  },
  bad_bytes: { http: 422, smtp: '550 5.6.0', title: 'The message has a NUL byte.' },
  bad_header: { http: 422, smtp: '550 5.6.0', title: 'The header is not valid.' },
  too_many_authors: { http: 422, smtp: '550 5.6.0', title: 'The From field has more than 10 addresses.' },
  line_too_long: { http: 422, smtp: '550 5.6.0', title: 'A line has more than 998 characters (RFC 5322 2.1.1).' },
  mail_loop: { http: 422, smtp: '554 5.4.6', title: 'Too many Received headers: the message loops.' },
  session_missing: { http: 401, envelope: 40101, title: 'The header token is missing.', zh: '缺少 token' },
  session_invalid: {
    http: 401,
    envelope: 40102,
    title: 'The token is unknown or has expired; log in again.',
    zh: 'token 无效或已过期，请重新登录',
  },
  app_credential_invalid: {
    http: 401,
    envelope: 40110,
    title: 'The app credential is missing, unknown or revoked.',
    zh: '应用凭证无效',
  },
  app_signature_invalid: {
    http: 401,
    envelope: 40111,
    title: 'The signature is wrong, too old or was used before.',
    zh: '签名错误、已过期或重复使用',
  },
  admin_disabled: {
    http: 403,
    envelope: 40303,
    title: 'This admin may not use the administration.',
    zh: '管理员已被禁用',
  },
  app_disabled: { http: 403, envelope: 40310, title: 'The app is disabled.', zh: '应用已停用' },
  end_user_not_found: { http: 404, envelope: 40401, title: 'There is no such user.', zh: '用户不存在' },
  plan_not_found: { http: 404, envelope: 40402, title: 'There is no such plan.', zh: '套餐不存在' },
  subscription_not_found: { http: 404, envelope: 40403, title: 'There is no such subscription.', zh: '订阅不存在' },
  switch_not_found: { http: 404, envelope: 40404, title: 'There is no such switch.', zh: '开关不存在' },
  app_not_found: { http: 404, envelope: 40405, title: 'There is no such app.', zh: '应用不存在' },
  record_not_found: { http: 404, envelope: 40406, title: 'There is no such record.', zh: '记录不存在' },
  app_key_unknown: { http: 404, envelope: 40410, title: 'The app_key is unknown.', zh: 'app_key 不存在' },
  name_taken: { http: 409, envelope: 40901, title: 'The name is taken.', zh: '名称已存在' },
  version_conflict: {
    http: 409,
    envelope: 40902,
    title: 'The record was changed meanwhile; read it again.',
    zh: '记录已被他人修改，请刷新后重试',
  },
  transition_refused: {
    http: 409,
    envelope: 40903,
    title: 'The state of the record does not allow this.',
    zh: '当前状态不允许此操作',
  },
  app_in_use: {
    http: 409,
    envelope: 40904,
    title: 'The app has active subscriptions; add force=1 to delete it.',
    zh: '应用仍有生效中的订阅，如需删除请加 force=1',
  },
  idempotency_key_mismatch: {
    http: 409,
    envelope: 40905,
    title: 'This idempotency key was used with another request.',
    zh: '幂等键已用于另一请求',
  },
  payment_taken: {
    http: 409,
    envelope: 40908,
    title: 'The payment belongs to another subscription.',
    zh: '该支付单属于另一个订阅',
  },
  identities_conflict: {
    http: 409,
    envelope: 40909,
    title: 'The identities belong to two users.',
    zh: '这些身份标识属于两个用户',
  },
  app_key_missing: { http: 422, envelope: 42210, title: 'The query parameter app_key is missing.', zh: '缺少 app_key' },
  page_too_deep: {
    http: 422,
    envelope: 42220,
    title: 'This page is too deep; follow next_cursor, filter the list or export it.',
    zh: '页码过深，请使用 next_cursor 翻页、缩小筛选范围或使用导出',
  },
  amount_mismatch: { http: 422, envelope: 42230, title: 'The amount differs from the order.', zh: '金额与订单不符' },
  login_locked: {
    http: 429,
    envelope: 42902,
    title: 'Too many failed logins; try again later.',
    zh: '登录失败次数过多，请稍后再试',
  },
} as const satisfies Record<string, Problem>

/** The stable code of a problem. */
export type ProblemCode = keyof typeof problems

/** A fault of one field: a JSON pointer (RFC 6901), a code and a sentence. */
export interface FieldFault {
  pointer: string
  code: string
  message: string
}

/** Most faults that a refusal lists. */
const MAX_FAULTS = 50

/** A refusal on its way to the client. Thrown by use cases and handlers, answered by the outermost layer. */
export class ProblemError extends Error {
  readonly code: ProblemCode
  readonly detail: string
  readonly faults: readonly FieldFault[]
  /** Seconds to wait, for the header Retry-After. */
  readonly retryAfter: number | undefined
  constructor(
    code: ProblemCode,
    detail?: string,
    options: { faults?: readonly FieldFault[]; retryAfter?: number; cause?: unknown } = {},
  ) {
    super(detail ?? problems[code].title, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ProblemError'
    this.code = code
    this.detail = detail ?? problems[code].title
    this.faults = (options.faults ?? []).slice(0, MAX_FAULTS)
    this.retryAfter = options.retryAfter
  }
}
