/** Why a JSON document cannot be read. Octets are counted from 0. */
import type { json as english } from '../en/json.ts'

export const json: Readonly<Record<keyof typeof english, string>> = {
  'json.unexpected': '第 {at} 个字节处是{found}，此处应为{expected}',
  'json.the_end': '文本结尾',
  'json.a_value': '值',
  'json.a_value_or_end': '值或 ]',
  'json.a_name': '双引号内的名称',
  'json.a_name_or_end': '双引号内的名称或 }',
  'json.a_comma_or_end': '逗号或右括号',
  'json.end_of_string': '字符串的结尾',
  'json.not_a_document': '必须是对象或列表',
  'json.not_utf8': '含有不是 UTF-8 的文本',
  'json.not_utf8_near': '第 {at} 个字节附近的文本不是 UTF-8',
  'json.control_character': '第 {at} 个字节处的字符串中有控制字符',
  'json.escape': '第 {at} 个字节处有无法识别的转义',
  'json.half_pair': '有字符串含不成对的代理码元',
  'json.half_pair_before': '第 {at} 个字节之前有不成对的代理码元',
  'json.name_forbidden': '有成员使用了不允许的名称 {name}',
  'json.number_too_long': '第 {at} 个字节处的数字或单词超过 {count} 个字符',
  'json.cut': '连接在请求体结束前断开',
  'json.compression': '无法解压缩',
  // What a document has too much of
  'json.levels': '超过 {count} 层的嵌套（第 {at} 个字节处）',
  'json.values': '超过 {count} 个值',
  'json.members': '成员超过 {count} 个的对象',
  'json.name_too_long': '超过 {count} 个字符的名称（第 {at} 个字节处）',
}
