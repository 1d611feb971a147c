/**
 * Replies of the large providers of China, which have codes of their own in the text and answer 550 to most things. Sources:
 * Tencent's help about returned mail (service.mail.qq.com, also for exmail), NetEase's list of return codes
 * (help.163.com, also for qiye.163.com; Coremail, which many companies run, has the same codes), the error lists of Sina and
 * Alibaba Mail.
 */
import type { ReplyRow } from './failure-kinds.ts'

const TENCENT: readonly ReplyRow[] = [
  {
    text: /\b(?:ip|domain|sender|connection|from|user) frequency limited/i,
    kind: 'throttled',
    retry: true,
    slow: true,
  },
  { sites: ['tencent'], text: /sending (?:rate|frequency)|too many/i, kind: 'throttled', retry: true, slow: true },
  // The recipient gets too much mail in a short time; the mailbox exists.
  { text: /mailbox unavailable or access denied/i, kind: 'throttled', retry: true },
  { text: /\b(?:SPF|DKIM|DMARC) check failed/i, kind: 'authentication' },
  { text: /mail content denied|error: content rejected/i, kind: 'content' },
  { text: /suspected (?:spam sender|bounce attacks)|(?:ip|domain) (?:is )?in black ?list/i, kind: 'reputation' },
  { text: /mail is rejected by recipients/i, kind: 'policy' },
]

const NETEASE: readonly ReplyRow[] = [
  { text: /\b(?:MI:SPF|MI:DMA|DT:SUM)\b/, kind: 'authentication' },
  {
    text: /\b(?:(?:MI|RP):(?:CEL|CCL)|MI:(?:DMC|STC|SFQ)|RP:(?:DRC|RCL|TRC|QRC)|IB:FRL|HL:(?:ICC|IFC|IFQ|ITC))\b/,
    kind: 'throttled',
    retry: true,
    slow: true,
  },
  { codes: /^4/, text: /\bHL:(?:REP|MEP)\b/, kind: 'reputation', slow: true },
  { text: /\b(?:HL:(?:REP|MEP|IHU|IPB)|DT:RBL|WM:BL[IU]|MI:SPB)\b/, kind: 'reputation' },
  { text: /\bDT:SP[MB]\b/, kind: 'content' },
  { text: /\b(?:MI:(?:NHD|IMF)|RP:FRL)\b/, kind: 'own_fault' },
  { codes: /^5/, text: /\bRC:(?:NE|LD)\b/, kind: 'address' },
]

const OTHERS: readonly ReplyRow[] = [
  // Alibaba: "Reject by content spam", "Reject by behaviour spam", "Invalid rcptto [@sm070104]"
  { text: /reject by content spam/i, kind: 'content' },
  { text: /reject by behaviou?r spam/i, kind: 'reputation' },
  { codes: /^5/, text: /invalid rcptto\b/i, kind: 'address' },
  { codes: /^5/, text: /mail from must equal authorized user/i, kind: 'own_fault' },
  // Sina
  { text: /\bblack ip\b|\brbl deny\b/i, kind: 'reputation' },
  { text: /rejected by anti-spam engine/i, kind: 'content' },
  { text: /remote ip check error/i, kind: 'authentication' },
]

/** The same refusals in words, which are in bounces rather than in replies. */
const TEXTS: readonly ReplyRow[] = [
  { text: /(?:SPF|DKIM|DMARC).{0,20}(?:校验|检查|验证|许可|失败)|反向解析/i, kind: 'authentication' },
  { text: /发件人.{0,60}(?:不存在|非法|未设置|设置错误)/, kind: 'own_fault' },
  { text: /域名.{0,12}(?:不存在|无法解析|解析失败)/, kind: 'dns' },
  { text: /空间(?:已)?(?:满|不足)|邮箱已满|容量(?:已满|不足)/, kind: 'mailbox_full' },
  {
    text: /用户不存在|没有(?:此|该)用户|未开通.{0,6}邮箱|(?:邮箱|邮件|收件人)(?:地址|账号|帐号|邮箱)?.{0,60}不存在/,
    kind: 'address',
  },
  { text: /频率|过于频繁|发送过快|超过.{0,8}(?:次数|数量).{0,4}限制/, kind: 'throttled', slow: true },
  { text: /病毒|垃圾邮件|内容.{0,12}(?:拒绝|违规|不合规|未被许可)/, kind: 'content' },
  { text: /黑名单|信誉/, kind: 'reputation' },
  { text: /(?:邮件|附件).{0,8}(?:过大|超过|超出)/, kind: 'size' },
  { text: /拒收|拒绝/, kind: 'policy' },
]

/** First match wins. */
export const CHINESE_REPLIES: readonly ReplyRow[] = [...TENCENT, ...NETEASE, ...OTHERS, ...TEXTS]
