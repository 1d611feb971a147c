/** 打开与点击。 */
import type { tracking as english } from '../en/tracking.ts'

export const tracking: Readonly<Record<keyof typeof english, string>> = {
  'tracking.opened': '邮件已被打开。',
  'tracking.opened_by_program': '有程序获取了邮件中的图片；可能并没有人打开邮件。',
  'tracking.clicked': '链接被点击：{url}',
  'tracking.clicked_by_program': '有程序访问了链接：{url}',
  'tracking.off_opens': '{domain} 未开启打开跟踪：请在域名设置中开启跟踪，或不要填写 track.opens。',
  'tracking.off_clicks': '{domain} 未开启点击跟踪：请在域名设置中开启跟踪，或不要填写 track.clicks。',
  'tracking.header': 'X-Postwright-Track 必须是 off、opens 或 clicks。',
  'tracking.unreachable': '记录已存在，但 {url} 未指向本系统：{reason}在此之前，邮件将不带跟踪发出。',
  'tracking.other_answer': '其他服务以状态码 {status} 作答。',
  'tracking.no_address': '该主机没有公网地址。',
  'tracking.connection': '连接失败（{error}）。',
  'tracking.serve_host': '请让反向代理把发往 {host} 的请求转给面板；使用 https 时还需为其配置证书。',
}
