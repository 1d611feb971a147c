/** Model Context Protocol 地址自行拒绝的内容。 */
import type { mcp as english } from '../en/mcp.ts'

export const mcp: Readonly<Record<keyof typeof english, string>> = {
  'mcp.token_needed': 'Authorization 必须是 "Bearer <token>"，且令牌具有权限 mcp。',
  'mcp.origin': '其他来源的页面不得访问此地址；允许的来源是 {origin}。',
  'mcp.no_batch': '一个请求只能有一条消息，不能是批量。',
}
