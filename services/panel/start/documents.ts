const REPOSITORY = 'https://github.com/postwright/postwright/blob'

/** Address of a document without language, such as `smtp`: as the release has it, or the newest of a build that is none. */
export function documentAddress(name: string, language: string, release: string | undefined): string {
  return `${REPOSITORY}/${release === undefined ? 'main' : `v${release}`}/docs/${name}${language === 'zh-CN' ? '.zh-CN' : ''}.md`
}
