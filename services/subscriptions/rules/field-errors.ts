/** Faults of single fields: what is wrong, as a stable rule name and a sentence in the reader's language. */
import type { z } from 'zod'
import { ROW_LIMITS } from './csv.ts'
import type { Lang } from './language.ts'

/** One fault as the envelope shows it. */
export interface Fault {
  /** Path of the field, joined by dots. */
  field: string
  rule: string
  message: string
}

const SENTENCES = {
  required: ['不能为空', 'is required'],
  type: ['类型不正确', 'has the wrong type'],
  too_small: ['过短或过小', 'is too short or too small'],
  too_big: ['过长或过大', 'is too long or too large'],
  format: ['格式不正确', 'has the wrong format'],
  value: ['不是允许的值', 'is not one of the allowed values'],
  integer: ['必须是整数', 'must be an integer'],
  decimals: ['最多两位小数', 'may have two decimals at most'],
  date: ['必须是 YYYY-MM-DD 或 Unix 秒', 'must be YYYY-MM-DD or Unix seconds'],
  date_order: ['开始日期晚于结束日期', 'starts after it ends'],
  features: [
    '必须是含 features 字符串数组的 JSON 对象文本',
    'must be the text of a JSON object with an array of strings named features',
  ],
  original_price: ['原价不能低于售价', 'must not be below the price'],
  switch_value: ['与开关类型不符', 'does not fit the type of the switch'],
  identity: ['至少需要一个身份标识', 'needs at least one identity'],
  user: ['需要 user_id 或一个身份标识', 'needs user_id or an identity'],
  unique: ['不能重复', 'must not repeat'],
  other_days: ['该编号此前已按其他天数授予', 'stands for a grant of other days already'],
  encoding: ['含有无法识别的字节，请将文件另存为 UTF-8', 'has bytes that are no text; save the file as UTF-8'],
  charset: ['字符集不受支持，请使用 UTF-8、UTF-16 或 GB18030', 'has another charset than UTF-8, UTF-16 or GB18030'],
  spreadsheet: [
    '是电子表格（.xlsx、.xls 或 .ods），请在表格软件中另存为“CSV UTF-8”后再导入',
    'is a spreadsheet (.xlsx, .xls or .ods); save it as "CSV UTF-8" and import that',
  ],
  quote: ['有未闭合的引号，或引号出现在单元格中间', 'has a quote that is not closed, or that stands inside of a cell'],
  row_cells: [`该行超过 ${ROW_LIMITS.cells} 个单元格`, `is in a row with more than ${ROW_LIMITS.cells} cells`],
  row_length: [
    `该行超过 ${ROW_LIMITS.chars} 个字符，请检查是否有未闭合的引号`,
    `is in a row with more than ${ROW_LIMITS.chars} characters; look for a quote that is not closed`,
  ],
  surplus: [
    '超出标题行的列数；若单元格内含有分隔符，请用双引号括起来',
    'is to the right of the last heading; put cells that contain the separator in double quotes',
  ],
  permanent: ['已永久拥有该套餐', 'holds the plan for ever already'],
  sender: ['所属域名不是平台管理员已验证的域名', 'is in no verified domain of an administrator of the platform'],
  tls_required: [
    '必须以 https:// 开头；设置 WEBHOOK_ALLOW_PRIVATE=true 可放行 http',
    'must begin with https://; the setting WEBHOOK_ALLOW_PRIVATE=true allows http',
  ],
  url_login: ['不能包含用户名或密码', 'must not contain a user name or password'],
  private_address: [
    '不是公网地址；设置 WEBHOOK_ALLOW_PRIVATE=true 可放行',
    'is not a public address; the setting WEBHOOK_ALLOW_PRIVATE=true allows it',
  ],
  at_least_one: ['至少需要一个字段', 'needs at least one field'],
} as const satisfies Record<string, readonly [zh: string, en: string]>

/** Names of rules; a schema gives one as the message of a custom check. */
export type FaultRule = keyof typeof SENTENCES

/** A fault before it is put into words: a JSON pointer (RFC 6901) and a rule. */
export interface RawFault {
  pointer: string
  code: string
  message: string
}

/** A fault by hand. */
export function fault(field: string, rule: FaultRule): RawFault {
  return { pointer: `/${field.replaceAll('.', '/')}`, code: rule, message: '' }
}

/** What faults are made of: an issue of zod. */
type Issue = Readonly<Pick<z.core.$ZodIssue, 'path' | 'message'> & { code: string }>

/** The faults that zod found in what was given. */
export function faultsOf({ issues }: { issues: readonly Issue[] }, given: unknown): RawFault[] {
  return issues.map(issue => {
    const rule = NOTHING_FITS.has(issue.code) && at(given, issue.path) === undefined ? 'required' : ruleOf(issue)
    return fault(issue.path.map(String).join('.'), rule)
  })
}

/** What zod says of a missing value as well, where several types or words are allowed. */
const NOTHING_FITS: ReadonlySet<string> = new Set(['invalid_union', 'invalid_value'])

function at(given: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | null | undefined)?.[key], given)
}

/** A fault in words; rules without a sentence keep the message that they came with. */
export function localise({ pointer, code, message }: RawFault, lang: Lang): Fault {
  const sentence = Object.hasOwn(SENTENCES, code) ? SENTENCES[code as FaultRule][lang === 'zh' ? 0 : 1] : message
  return { field: pointer.slice(1).replaceAll('/', '.'), rule: code, message: sentence }
}

function ruleOf(issue: Issue): FaultRule {
  if (Object.hasOwn(SENTENCES, issue.message)) return issue.message as FaultRule
  switch (issue.code) {
    case 'invalid_type':
      return issue.message.endsWith('received undefined') ? 'required' : 'type'
    case 'too_small':
      return 'too_small'
    case 'too_big':
      return 'too_big'
    case 'invalid_format':
      return 'format'
    case 'invalid_value':
      return 'value'
    default:
      return 'type'
  }
}
