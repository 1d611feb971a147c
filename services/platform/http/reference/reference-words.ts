/** The words of the page for readers that the document does not have. Its summaries and descriptions are in English. */

/** A language of the page. */
export type ReferenceLanguage = 'en' | 'zh-CN'

const en = {
  search: 'Search',
  searchHint: 'Words in names, addresses and descriptions',
  all: 'All operations',
  found: 'Operations found: ',
  none: 'No operation has these words.',
  skip: 'Skip to the operations',
  contents: 'Contents',
  language: 'Language',
  document: 'OpenAPI document (JSON)',
  caller: 'Caller',
  anybody: 'anybody',
  or: 'or',
  and: 'and',
  parameters: 'Parameters',
  body: 'Request body',
  optional: 'optional',
  required: 'required',
  answers: 'Answers',
  empty: 'no content',
  example: 'Example',
  exampleOf: 'Example of',
  list: 'list of',
  schemas: 'Schemas',
  credentials: 'Credentials',
  credentialsHint:
    'The examples take credentials from variables of the shell. Ids in them are made up: use those of your records.',
  path: 'path',
  query: 'query',
  header: 'header',
  defaults: 'default',
}

const zh: typeof en = {
  search: '搜索',
  searchHint: '名称、路径或说明中的词',
  all: '全部操作',
  found: '找到的操作：',
  none: '没有包含这些词的操作。',
  skip: '跳到操作列表',
  contents: '目录',
  language: '语言',
  document: 'OpenAPI 文档（JSON）',
  caller: '调用者',
  anybody: '任何人',
  or: '或',
  and: '和',
  parameters: '参数',
  body: '请求正文',
  optional: '可选',
  required: '必填',
  answers: '响应',
  empty: '无内容',
  example: '示例',
  exampleOf: '示例：',
  list: '列表：',
  schemas: '数据结构',
  credentials: '凭据',
  credentialsHint: '示例从 shell 变量读取凭据。示例中的 id 是虚构的，请换成您自己记录的 id。',
  path: '路径',
  query: '查询',
  header: '请求头',
  defaults: '默认',
}

/** Words by language. */
export const REFERENCE_WORDS: Readonly<Record<ReferenceLanguage, typeof en>> = { en, 'zh-CN': zh }
/** Words of one language. */
export type ReferenceWords = typeof en
