/** The example of an operation as a command for a shell. */
import type { PlacedOperation, ReferenceDocument, ReferenceParameter, SecurityScheme } from './reference-document.ts'

/**
 * A `curl` command with the operation's example. Credentials are variables of the shell ({@link credentialVariable}), and
 * so is the address where the document has none.
 */
export function curlExample(document: ReferenceDocument, { method, path, operation }: PlacedOperation): string {
  const { parameters = [], requestBody, responses } = operation
  const body = Object.entries(requestBody?.content ?? {}).find(([, content]) => 'example' in content)
  const isStream = Object.values(responses).some(({ content }) => content && 'text/event-stream' in content)
  const parts = [
    `curl${isStream ? ' -N' : ''}${method === 'GET' ? '' : ` -X ${method}`} "${addressOf(document, path, parameters)}"`,
    ...credentials(document, operation.security),
    ...parameters
      .filter(one => one.in === 'header' && 'example' in one)
      .map(({ name, example }) => `-H ${quoted(`${name}: ${String(example)}`)}`),
    ...(body ? bodyOptions(body[0], body[1].example) : []),
  ]
  return parts.join(' \\\n  ')
}

/** The variable of the shell that a command takes a credential from: POSTWRIGHT_TOKEN for the scheme `token`. */
export function credentialVariable(scheme: string): string {
  return `POSTWRIGHT_${scheme.replaceAll(/([A-Z])/g, '_$1').toUpperCase()}`
}

/** The path with its examples; a parameter without one stays in braces, encoded. */
function addressOf({ servers }: ReferenceDocument, path: string, parameters: readonly ReferenceParameter[]): string {
  const server = servers[0]?.url ?? '/'
  const filled = path.replaceAll(/\{(\w+)\}/g, (braces, name: string) => {
    const { example } = parameters.find(one => one.in === 'path' && one.name === name) ?? {}
    return encodeURIComponent(String(example ?? braces))
  })
  const query = new URLSearchParams(
    parameters
      .filter(one => one.in === 'query' && 'example' in one)
      .map(({ name, example }) => [name, String(example)] as [string, string]),
  ).toString()
  const base = server.startsWith('http') ? server.replace(/\/$/, '') : '$POSTWRIGHT_URL'
  return `${base}${filled}${query === '' ? '' : `?${query}`}`
}

/** Of alternatives that for programs (a token) goes before that of a browser (a cookie). */
function credentials(
  { components }: ReferenceDocument,
  security: PlacedOperation['operation']['security'],
): readonly string[] {
  const isCookie = (names: object) => Object.keys(names).some(name => components.securitySchemes[name]?.in === 'cookie')
  const chosen = security.find(names => !isCookie(names)) ?? security[0] ?? {}
  return Object.keys(chosen).flatMap(name => {
    const scheme = components.securitySchemes[name]
    return scheme ? [credential(name, scheme)] : []
  })
}

function credential(name: string, { type, in: place, name: field }: SecurityScheme): string {
  if (name === 'csrf') return `-H "${field}: 1"`
  const variable = `$${credentialVariable(name)}`
  if (type === 'http') return `-H "Authorization: Bearer ${variable}"`
  return place === 'cookie' ? `-b "${field}=${variable}"` : `-H "${field}: ${variable}"`
}

function bodyOptions(type: string, example: unknown): string[] {
  const isJson = type === 'application/json'
  const text = isJson ? JSON.stringify(example, null, 2) : String(example)
  return [`-H ${quoted(`Content-Type: ${type}`)}`, `${isJson ? '-d' : '--data-binary'} ${quoted(text)}`]
}

/** In single quotes nothing is special but the single quote. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
