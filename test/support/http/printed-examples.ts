/** The examples of `/docs`: read from the page as a reader sees them, and run by a shell. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Ajv2020 } from 'ajv/dist/2020.js'
import {
  type PlacedOperation,
  placedOperations,
  type ReferenceDocument,
} from '../../../services/platform/http/reference/reference-document.ts'
import { program } from '../programs/programs.ts'

/** What a command answered. */
export interface PrintedAnswer {
  status: number
  /** Without parameters; '' if there is none. */
  type: string
  body: string
}

/** The commands on the page at `url`, by operation. */
export async function printedExamples(url: string): Promise<Map<string, string>> {
  const page = await (await fetch(`${url}/docs?lang=en`)).text()
  const found = page.matchAll(/<pre [^>]*data-operation="(\w+)"><code>([^<]*)<\/code>/g)
  return new Map([...found].map(([, operation = '', command = '']) => [operation, plain(command)]))
}

const SIGNS: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
const plain = (html: string) => html.replaceAll(/&(#?\w+);/g, (whole, name: string) => SIGNS[name] ?? whole)

/** Runs commands in a shell in which curl also prints status and type. */
export async function startShell(): Promise<{
  run(command: string, env: Record<string, string>): Promise<PrintedAnswer>
  stop(): Promise<void>
}> {
  program('curl')
  const folder = await mkdtemp(join(tmpdir(), 'pw-curl-'))
  const options = ['silent', 'show-error', 'max-time = 30', 'write-out = "\\n%{http_code} %{content_type}"']
  await writeFile(join(folder, '.curlrc'), `${options.join('\n')}\n`)
  const shell = promisify(execFile)
  return {
    async run(command, env) {
      const { stdout } = await shell('sh', ['-c', command], {
        env: { PATH: process.env.PATH ?? '', CURL_HOME: folder, ...env },
        maxBuffer: 32 * 1024 * 1024,
      }).catch((error: { stdout?: string }) => {
        // A stream that never ends is stopped by max-time.
        if (error.stdout?.includes('text/event-stream')) return { stdout: error.stdout }
        throw error
      })
      const end = stdout.lastIndexOf('\n')
      const [status = '', type = ''] = stdout.slice(end + 1).split(/[ ;]/)
      return { status: Number(status), type, body: stdout.slice(0, end) }
    },
    stop: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Throws unless an answer is the documented success of the operation: status, type, and the schema of JSON. */
export function successChecker(document: ReferenceDocument): (operationId: string, answer: PrintedAnswer) => void {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
  ajv.addSchema(document, 'document')
  const operations = new Map(placedOperations(document).map(one => [one.operation.operationId, one]))
  return (operationId, { status, type, body }) => {
    const placed = operations.get(operationId)
    if (!placed) throw new Error(`the document has no ${operationId}`)
    const { operation } = placed
    const documented = operation.responses[status]
    if (!documented || status >= 400)
      throw new Error(`${operationId} answered ${status} ${type}: ${body.slice(0, 800)}`)
    const types = Object.keys(documented.content ?? {})
    if (types.length > 0 && !types.includes(type)) throw new Error(`${operationId} answered ${type}, not ${types}`)
    if (type !== 'application/json') return
    const validate = ajv.compile({ $ref: pointerTo(placed, status) })
    if (!validate(JSON.parse(body))) throw new Error(`${operationId}: ${ajv.errorsText(validate.errors)}`)
  }
}

function pointerTo({ method, path }: PlacedOperation, status: number): string {
  const parts = [
    'paths',
    path,
    method.toLowerCase(),
    'responses',
    String(status),
    'content',
    'application/json',
    'schema',
  ]
  return `document#/${parts.map(part => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`
}
