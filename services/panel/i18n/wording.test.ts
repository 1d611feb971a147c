/** The words of the catalogues: one term for one thing, one verb for one action, and no wording of earlier releases. */
import { expect, test } from 'vitest'
import { english as sentences } from '../../platform/sentences/en/index.ts'
import { chinese } from '../../platform/sentences/zh-cn/index.ts'
import { catalogue as en } from './en/index.ts'
import { catalogue as zh } from './zh-CN/index.ts'

type Texts = readonly (readonly [key: string, text: string])[]

function flatten(value: object, path = ''): [key: string, text: string][] {
  return Object.entries(value).flatMap(([name, inner]): [string, string][] =>
    typeof inner === 'string' ? [[path + name, inner]] : flatten(inner, `${path}${name}.`),
  )
}

const english = flatten(en)
const translated = flatten(zh)
const texts = { english: new Map(english), chinese: new Map(translated) }

/** Foreign, vague or earlier words, with what the panel says instead. */
const BANNED: readonly [word: RegExp, instead: string][] = [
  [/\bgiv(e|es|en|ing) up\b/i, 'Failed for a message, Remove for a domain'],
  [/\b(does not |do not )?fits?\b/i, 'Verified and Mismatch for records, match for filters'],
  [/\b(some|any|no)body\b/i, 'someone, the user, another account, or the passive'],
  [/\be-mail\b/i, 'email'],
  [/\blook(s|ed|ing)?\b(?![- ]?up| .* up)/i, 'check; Refresh for what is read again'],
  [/\bstands?\b|\bstanding\b/i, 'is, or the thing itself'],
  [/\blet in\b/i, 'Reactivate'],
  [/\b(try|tries|tried) (it )?(now|once more)\b/i, 'Retry now'],
  [/\bforgets?\b/i, 'Delete'],
  [/\bfares?d?\b|\bfigures?\b|\banew\b|\bmeanwhile\b|\bso (long|many)\b/i, 'statistics, again, for, up to'],
  [/\bby itself\b/i, 'automatically'],
  [/\bone a line\b/i, 'one per line'],
  [/\bonly now\b/i, 'shown only once'],
  [/\bnothing (is )?to (be )?do(ne)?\b/i, 'No action is needed, and only where it is true'],
  [/\bat \d+ (a|p)m\b/i, 'a time of the reader’s zone'],
  [/colour|organisation|authoris|recognis|synchronis|cancelled|behaviour/i, 'American spelling'],
  [/\btrial (mode|inbox|domain)\b/i, 'Capture mode, Captured mail, sandbox domain'],
  [/\bgo(es)? on\b/i, 'continue, stay valid'],
  [/\bend users?\b/i, 'Users'],
  [/\bkeep\b.* right\b/i, 'keep up to date'],
]

/** Words of the panel's own texts; sentences of the API use the terms of protocols, where a server refuses a connection. */
const BANNED_IN_PANEL: readonly [word: RegExp, instead: string][] = [
  [/(?<!query )\brefus(e|es|ed|al)\b/i, 'Rejected, Bounced'],
  [/\bmay (not )?send\b/i, 'can send'],
  [/\btrying again\b|\btried again\b/i, 'Retrying'],
]

const BANNED_CHINESE: readonly [word: RegExp, instead: string][] = [
  [/账户(?!中心)/, '账号'],
  [/SMTP 登录/, 'SMTP 账号'],
  [/新建/, '创建'],
  [/试用(模式|收件箱|域名)/, '捕获模式、已捕获的邮件、沙盒域名'],
  [/再次发送/, '重新发送'],
  [/放弃投递/, '投递失败'],
]

function findingsIn(list: Texts, banned: readonly [RegExp, string][]): string[] {
  return list.flatMap(([key, text]) =>
    banned.flatMap(([word, instead]) =>
      word.test(text.replaceAll(/\{+\w+\}+/g, '')) ? [`${key}: “${text}” – say: ${instead}`] : [],
    ),
  )
}

test('no English text has a banned word', () => {
  expect(findingsIn(english, [...BANNED, ...BANNED_IN_PANEL])).toEqual([])
  expect(findingsIn(Object.entries(sentences), BANNED)).toEqual([])
})

test('no Chinese text has a banned word', () => {
  expect(findingsIn(translated, BANNED_CHINESE)).toEqual([])
  expect(findingsIn(Object.entries(chinese.texts), BANNED_CHINESE)).toEqual([])
})

test.each([
  ['Give up domain', 'Remove'],
  ['May send', 'can send'],
  ['Trying again', 'Retrying'],
  ['Refused', 'Bounced'],
  ['Fits', 'Verified'],
  ['Look again', 'Refresh'],
  ['This is shown only now.', 'once'],
  ['Nothing is to be done.', 'No action'],
])('“%s” would be found', (text, instead) => {
  expect(findingsIn([['key', text]], [...BANNED, ...BANNED_IN_PANEL]).join()).toContain(instead)
})

/** Labels of one action: they begin with the same verb in each language. */
const VERBS: readonly [english: string, chinese: string, keys: readonly string[]][] = [
  [
    'Create',
    '创建',
    [
      ...['access.newLogin', 'access.newToken', 'start.makeLogin', 'start.makeToken', 'templates.new', 'webhooks.new'],
      ...[
        'operator.newUser',
        'limits.add',
        'subs.newApp',
        'subs.newPlan',
        'subs.newSwitch',
        'subs.newKey',
        'ui.create',
      ],
      ...['security.createAccount', 'members.createUser'],
    ],
  ],
  [
    'Add',
    '添加',
    [
      ...['domains.add', 'dns.addAccount', 'suppressions.add', 'ways.add', 'reports.add', 'reports.addTitle'],
      ...['subs.newAdmin', 'subs.addRule', 'subs.addCondition', 'subs.addSchedule', 'templates.addVariable'],
    ],
  ],
  ['Save', '保存', ['ui.save', 'templates.save']],
  [
    'Edit',
    '编辑',
    ['ui.edit', 'webhooks.edit', 'limits.change', 'access.changeLimits', 'subs.editApp', 'subs.editPlan'],
  ],
  [
    'Delete',
    '删除',
    [
      ...['ui.delete', 'access.deleteLoginTitle', 'webhooks.deleteTitle', 'dns.deleteTitle', 'templates.remove'],
      ...[
        'templates.removeTitle',
        'inbox.delete',
        'inbox.deleteAllTitle',
        'subs.deleteAppTitle',
        'messages.views.delete',
      ],
    ],
  ],
  ['Remove', '移除', ['domains.remove', 'domains.removeTitle', 'suppressions.remove', 'members.remove', 'ways.remove']],
  ['Revoke', '吊销', ['access.revoke', 'access.revokeTitle', 'domains.revoke', 'subs.revokeKeyTitle']],
  ['Rotate', '轮换', ['access.rotate', 'access.rotateTitle', 'dns.rotate', 'webhooks.rotate', 'webhooks.rotateTitle']],
  ['Reset', '重置', ['access.newPassword', 'access.newPasswordTitle', 'operator.resetPassword', 'operator.resetTitle']],
  ['Retry now', '立即重试', ['messages.retryNow', 'operator.retryNow']],
  ['Retry', '重试', ['messages.bulk.retry.title', 'messages.bulk.retry.action_one', 'queue.ask.retry']],
  ['Send again', '重新发送', ['messages.resend', 'security.inviteAgain', 'webhooks.replay']],
  [
    'Send test',
    '发送测试',
    ['nav.send', 'messages.sendTest', 'messages.sendTitle', 'templates.sendTest', 'webhooks.test'],
  ],
  [
    'Cancel',
    '取消',
    [
      ...['ui.cancel', 'messages.cancel', 'messages.cancelTitle', 'queue.ask.cancel', 'subs.cancelSubscription'],
      ...['messages.bulk.cancel.title', 'messages.bulk.cancel.action_one'],
    ],
  ],
  ['View', '查看', ['messages.view', 'messages.viewInLog', 'start.viewLog']],
  ['Restore', '恢复', ['subs.restore', 'subs.restoreTitle', 'templates.rollback', 'templates.rollbackTitle']],
  ['Refresh', '刷新', ['subs.refresh', 'operator.lookAgain']],
  ['Import', '导入', ['subs.import', 'suppressions.import']],
  ['Export', '导出', ['subs.export', 'suppressions.export', 'messages.export.action', 'messages.export.title']],
  ['Invite by email', '通过邮件邀请', ['security.invite', 'members.invite']],
  ['Choose file', '选择文件', ['subs.chooseFile', 'reports.chooseFile']],
  ['Limit to domains', '仅限这些域名', ['access.onlyDomains', 'webhooks.domains']],
]

test.each(VERBS)('%s (%s) is the verb of its labels', (verb, translation, keys) => {
  for (const key of keys) {
    expect(texts.english.get(key), key).toMatch(new RegExp(`^${verb}( |$)`))
    expect(texts.chinese.get(key), key).toMatch(new RegExp(`^${translation}`))
  }
})

/** Labels of an action on mail name what they act on: they can be seen on one page. */
test.each([
  ['messages.cancel', 'messages.bulk.cancel.title', 'messages.bulk.cancel.action_other', 'queue.ask.cancel'],
  ['messages.bulk.retry.title', 'messages.bulk.retry.action_other', 'queue.ask.retry'],
])('%s and its likes name the messages, each in its own words', (...keys) => {
  for (const [catalogue, noun] of [
    [texts.english, /\bmessages?\b/],
    [texts.chinese, /邮件/],
  ] as const) {
    const labels = keys.map(key => catalogue.get(key) ?? '')
    for (const label of labels) expect(label).toMatch(noun)
    expect(new Set(labels).size).toBe(keys.length)
  }
})

/** Words of states that several catalogues have: one word for one state. */
const STATES: readonly [english: string, chinese: string, keys: readonly string[]][] = [
  ['Retrying', '重试中', ['messages.status.deferred']],
  ['Bounced', '已退信', ['messages.status.bounced', 'overview.series.bounced']],
  ['Failed', '投递失败', ['messages.status.failed', 'overview.series.failed']],
  [
    'Delivered',
    '已送达',
    ['messages.status.delivered', 'overview.series.delivered', 'webhooks.deliveryState.delivered'],
  ],
  [
    'Waiting',
    '等待中',
    ['overview.series.waiting', 'overview.waiting', 'operator.waiting', 'webhooks.deliveryState.waiting'],
  ],
  [
    'Verified',
    '已验证',
    ['dns.status.verified', 'dns.checkOutcome.verified', 'domains.status.verified', 'operator.ptr.ok'],
  ],
  ['Mismatch', '不匹配', ['dns.status.failed', 'operator.ptr.other_name']],
  ['Missing', '缺失', ['dns.missing', 'operator.ptr.missing']],
  ['Conflict', '冲突', ['dns.status.conflict', 'dns.result.conflict', 'dns.action.conflict']],
  ['Revoked', '已吊销', ['access.tokenState.revoked', 'domains.keyState.revoked', 'subs.keyRevoked']],
  ['Suspended', '已停用', ['domains.status.suspended', 'members.suspended', 'operator.userStatus.suspended']],
  ['Status', '状态', ['messages.state', 'templates.state', 'operator.siteState', 'subs.scheduleState']],
]

test.each(STATES)('%s (%s) is one word for one state', (word, translation, keys) => {
  for (const key of keys) {
    expect(texts.english.get(key), key).toBe(word)
    expect(texts.chinese.get(key), key).toBe(translation)
  }
})

/** Labels that other labels name in quotation marks. */
test.each([
  ['start.passwordAgain', 'access.copyPassword'],
  ['dns.rotationHint', 'dns.manage'],
  ['messages.notYetFoundHint', 'ui.nextPage'],
  ['operator.retryHint', 'operator.retryNow'],
])('%s names %s as it is', (key, label) => {
  expect(texts.english.get(key)).toContain(`“${texts.english.get(label)}”`)
  expect(texts.chinese.get(key)).toContain(`“${texts.chinese.get(label)}”`)
})

test.each([
  ['explain.do_release', 'nav.messages'],
  ['explain.do_reputation', 'nav.addresses'],
  ['explain.do_remove_suppression', 'nav.suppressions'],
] as const)('the sentence %s names the page %s as the menu does', (code, page) => {
  expect(sentences[code]).toContain(`“${texts.english.get(page)}”`)
  expect(chinese.texts[code]).toContain(`“${texts.chinese.get(page)}”`)
})
