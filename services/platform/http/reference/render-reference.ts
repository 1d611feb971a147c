/** The page for readers of an OpenAPI document: complete HTML without scripts, readable in any browser. */
import { credentialVariable, curlExample } from './curl-example.ts'
import { REFERENCE_PATH, STYLE_PATH } from './document-operations.ts'
import {
  type PlacedOperation,
  placedOperations,
  type ReferenceDocument,
  type ReferenceOperation,
} from './reference-document.ts'
import { REFERENCE_WORDS, type ReferenceLanguage, type ReferenceWords } from './reference-words.ts'
import { escapeHtml, proseHtml, schemaHtml } from './schema-html.ts'

/** Renders a page; `search` leaves the operations that contain all of its words, '' leaves all. */
export type RenderReference = (search: string) => string

interface Rendered {
  tag: string
  /** In lower case. */
  searched: string
  link: string
  html: string
}

const LANGUAGES: readonly [ReferenceLanguage, string][] = [
  ['en', 'English'],
  ['zh-CN', '简体中文'],
]

/** Prepares the page in a language: its parts are rendered once, so that a request only joins them. */
export function createReference(document: ReferenceDocument, language: ReferenceLanguage): RenderReference {
  const words = REFERENCE_WORDS[language]
  const operations = placedOperations(document).map(one => renderOperation(document, one, words))
  const { title } = document.info
  const credentials = credentialsHtml(document, words)
  const schemas = schemasHtml(document, words)
  return search => {
    const wanted = search.toLowerCase().split(/\s+/).filter(Boolean)
    const shown = operations.filter(({ searched }) => wanted.every(word => searched.includes(word)))
    const tags = document.tags
      .map(tag => ({ ...tag, id: anchorOf(tag.name), members: shown.filter(one => one.tag === tag.name) }))
      .filter(({ members }) => members.length > 0)
    const links = tags.map(
      ({ name, id, members }) =>
        `<li><a href="#${id}">${escapeHtml(name)}</a><ul>${members.map(({ link }) => `<li>${link}</li>`).join('')}</ul></li>`,
    )
    const sections = tags.map(
      ({ name, id, description, members }) =>
        `<section aria-labelledby="${id}"><h2 id="${id}" tabindex="-1">${escapeHtml(name)}</h2><p lang="en">${proseHtml(description)}</p>${members.map(({ html }) => html).join('')}</section>`,
    )
    return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="${STYLE_PATH}">
</head>
<body>
<a class="skip" href="#operations">${words.skip}</a>
<header>
<h1>${escapeHtml(title)}</h1>
<p lang="en">${proseHtml(document.info.description)}</p>
<form role="search" action="${REFERENCE_PATH}" method="get">
<label for="search">${words.search}</label>
<input id="search" type="search" name="q" maxlength="100" value="${escapeHtml(search)}" placeholder="${words.searchHint}">
<input type="hidden" name="lang" value="${language}">
<button>${words.search}</button>
</form>
<p class="links"><a href="${REFERENCE_PATH}?lang=${language}">${words.all}</a> <a href="/openapi.json">${words.document}</a> ${languageLinks(language, search, words)}</p>
${search === '' ? '' : `<p role="status">${shown.length === 0 ? words.none : `${words.found}${shown.length}`}</p>`}
</header>
<div class="columns">
<nav aria-label="${words.contents}"><ul>${links.join('')}</ul></nav>
<main id="operations" tabindex="-1">
${credentials}
${sections.join('\n')}
${schemas}
</main>
</div>
</body>
</html>
`
  }
}

function languageLinks(current: ReferenceLanguage, search: string, words: ReferenceWords): string {
  const query = search === '' ? '' : `&amp;q=${encodeURIComponent(search).replaceAll("'", '%27')}`
  const links = LANGUAGES.map(
    ([language, name]) =>
      `<a href="${REFERENCE_PATH}?lang=${language}${query}" lang="${language}" hreflang="${language}"${language === current ? ' aria-current="true"' : ''}>${name}</a>`,
  )
  return `<span role="group" aria-label="${words.language}">${links.join(' ')}</span>`
}

const anchorOf = (name: string) => `tag-${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`

function renderOperation(document: ReferenceDocument, placed: PlacedOperation, words: ReferenceWords): Rendered {
  const { method, path, operation } = placed
  const { operationId: id, summary, tags, parameters = [] } = operation
  const [tag = ''] = tags
  const curl = curlExample(document, placed)
  const html = `<article aria-labelledby="${id}">
<h3 id="${id}" tabindex="-1"><a href="#${id}"><span class="method">${method}</span> <code>${escapeHtml(path)}</code></a></h3>
<p lang="en">${proseHtml(summary)}</p>
<p class="facts"><code>${id}</code> · ${words.caller}: ${callersHtml(operation, words)}</p>
${parametersHtml(operation, words)}${bodyHtml(operation, words)}${answersHtml(operation, words)}
<h4>${words.example}</h4>
<pre tabindex="0" role="region" aria-label="${words.exampleOf} ${id}" data-operation="${id}"><code>${escapeHtml(curl)}</code></pre>
</article>`
  const names = parameters.map(({ name, description = '' }) => `${name} ${description}`)
  return {
    tag,
    html,
    searched: [id, tag, method, path, summary, ...names].join('\n').toLowerCase(),
    link: `<a href="#${id}"><span class="method">${method}</span> ${escapeHtml(id)}</a>`,
  }
}

function callersHtml({ security }: ReferenceOperation, words: ReferenceWords): string {
  if (security.length === 0) return words.anybody
  return security
    .map(names =>
      Object.entries(names)
        .map(
          ([name, scopes]) =>
            `<a href="#credential-${name}">${name}</a>${scopes.map(one => ` <code>${escapeHtml(one)}</code>`).join('')}`,
        )
        .join(` ${words.and} `),
    )
    .join(` ${words.or} `)
}

function parametersHtml({ parameters = [] }: ReferenceOperation, words: ReferenceWords): string {
  if (parameters.length === 0) return ''
  const places: Readonly<Record<string, string>> = { path: words.path, query: words.query, header: words.header }
  const rows = parameters.map(({ name, in: place, required, description, schema }) => {
    const facts = [places[place] ?? place, ...(required ? [words.required] : [])].join(', ')
    const text = description === undefined ? '' : `<span lang="en">${proseHtml(description)}</span> `
    return `<li><code>${escapeHtml(name)}</code> <span class="fact">${facts}</span> ${text}${schemaHtml(schema, words)}</li>`
  })
  return `<h4>${words.parameters}</h4><ul class="fields">${rows.join('')}</ul>`
}

function bodyHtml({ requestBody }: ReferenceOperation, words: ReferenceWords): string {
  if (!requestBody) return ''
  const optional = requestBody.required ? '' : ` <span class="fact">${words.optional}</span>`
  const contents = Object.entries(requestBody.content).map(
    ([type, { schema }]) => `<div><code>${escapeHtml(type)}</code> ${schemaHtml(schema, words)}</div>`,
  )
  return `<h4>${words.body}${optional}</h4>${contents.join('')}`
}

function answersHtml({ responses }: ReferenceOperation, words: ReferenceWords): string {
  const answers = Object.entries(responses).map(([status, { $ref, description, content }]) => {
    const refusal = $ref?.slice($ref.lastIndexOf('/') + 1)
    if (refusal !== undefined) return `<li><code>${status}</code> <a href="#schema-${refusal}">${refusal}</a></li>`
    const contents = Object.entries(content ?? {}).map(
      ([type, { schema }]) => `<code>${escapeHtml(type)}</code> ${schemaHtml(schema, words)}`,
    )
    const text =
      description === undefined || description === 'Success' ? '' : `<span lang="en">${proseHtml(description)}</span> `
    return `<li><code>${status}</code> ${text}${contents.join('') || `<span class="fact">${words.empty}</span>`}</li>`
  })
  return `<h4>${words.answers}</h4><ul class="fields">${answers.join('')}</ul>`
}

function credentialsHtml({ components }: ReferenceDocument, words: ReferenceWords): string {
  const schemes = Object.entries(components.securitySchemes).map(([name, { description }]) => {
    const variable = name === 'csrf' ? '' : ` <code>$${credentialVariable(name)}</code>`
    return `<li id="credential-${name}"><code>${name}</code>${variable} <span lang="en">${proseHtml(description)}</span></li>`
  })
  return `<section aria-labelledby="credentials"><h2 id="credentials" tabindex="-1">${words.credentials}</h2><p>${words.credentialsHint}</p><ul class="fields">${schemes.join('')}</ul></section>`
}

function schemasHtml({ components }: ReferenceDocument, words: ReferenceWords): string {
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) =>
      `<article aria-labelledby="schema-${name}"><h3 id="schema-${name}" tabindex="-1"><code>${name}</code></h3>${schemaHtml(schema, words)}</article>`,
  )
  return `<section aria-labelledby="schemas"><h2 id="schemas" tabindex="-1">${words.schemas}</h2>${schemas.join('')}</section>`
}
