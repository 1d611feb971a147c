/** `/openapi.json` and `/docs`: the document of an API for programs and for readers. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type Router from '@koa/router'
import type { WebContext } from '../web-app.ts'
import { REFERENCE_PATH, STYLE_PATH } from './document-operations.ts'
import type { ReferenceDocument } from './reference-document.ts'
import type { ReferenceLanguage } from './reference-words.ts'
import { createReference, type RenderReference } from './render-reference.ts'

/** Longest search, in characters; the rest is ignored. */
const SEARCH_CHARS = 100

/** The page needs its own styles and the form, and nothing else: no scripts, no other hosts. */
const POLICY = "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

const style = readFileSync(join(import.meta.dirname, 'reference.css'), 'utf8')

/** Mounts the document and its page; the page is rendered when it is first asked for. */
export function mountReference(router: Router, document: ReferenceDocument): void {
  const json = JSON.stringify(document)
  const pages = new Map<ReferenceLanguage, RenderReference>()
  const pageIn = (language: ReferenceLanguage): RenderReference => {
    const page = pages.get(language) ?? createReference(document, language)
    pages.set(language, page)
    return page
  }
  serve(router, '/openapi.json', 'application/json', () => json)
  serve(router, STYLE_PATH, 'text/css; charset=utf-8', context => {
    context.set('Cache-Control', 'public, max-age=3600')
    return style
  })
  serve(router, REFERENCE_PATH, 'text/html; charset=utf-8', context => {
    const { q } = context.query
    context.set('Content-Security-Policy', POLICY)
    context.vary('Accept-Language')
    return pageIn(languageOf(context))([q].flat()[0]?.slice(0, SEARCH_CHARS) ?? '')
  })
}

function serve(router: Router, path: string, type: string, body: (context: WebContext) => string): void {
  router.get(path, async (context: WebContext) => {
    context.state.route = path
    context.type = type
    context.body = body(context)
  })
}

function languageOf(context: WebContext): ReferenceLanguage {
  const { lang } = context.query
  if (lang === 'en' || lang === 'zh-CN') return lang
  const preferred = context.acceptsLanguages('en', 'zh-CN', 'zh')
  return typeof preferred === 'string' && preferred.startsWith('zh') ? 'zh-CN' : 'en'
}
