/** Each import rule of `.dependency-cruiser.cjs` matches files of the tree and catches a violation. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { cruise, type ICruiseOptions, type ICruiseResult, type IFlattenedRuleSet } from 'dependency-cruiser'
import { afterAll, beforeAll, expect, test } from 'vitest'

interface Rule {
  name: string
  from: { path?: string; pathNot?: string | string[] }
  to: { pathNot?: string | string[] }
}

const config = createRequire(import.meta.url)('../.dependency-cruiser.cjs') as { forbidden: Rule[] }

/** The table of subjects: each with its rule, and the folders of its module that it may import. */
const SUBJECTS = config.forbidden.flatMap(({ name, from, to }) => {
  const [, module, subject] = /^\^(services\/(?:mail|subscriptions|platform))\/([a-z]+)\/$/.exec(from.path ?? '') ?? []
  const folders = [to.pathNot ?? []].flat().map(path => path.slice(`^${module}/`.length, -1))
  return module && subject ? [{ rule: name, module, subject, folders }] : []
})

/** Forbidden imports: the rule, the importing file, and what it imports (a file or a package). */
const VIOLATIONS: readonly (readonly [rule: string, from: string, to: string])[] = [
  ['no-cycles', 'services/platform/first.ts', 'services/platform/second.ts'],
  ['rules-are-pure', 'services/mail/log/rules/a.ts', 'services/platform/clock.ts'],
  ['rules-are-pure', 'services/mail/message/a.ts', 'services/mail/store/b.ts'],
  ['rules-are-pure', 'services/mail/dns/records/a.ts', 'services/mail/dns/b.ts'],
  ['rules-are-pure', 'services/mail/dns/plan/a.ts', 'package:mongoose'],
  ['rules-take-types-of-schemas', 'services/subscriptions/flags/rules/a.ts', 'services/subscriptions/store/models.ts'],
  ['platform-is-lowest', 'services/platform/http/a.ts', 'services/accounts/b.ts'],
  ['store-uses-rules-and-platform', 'services/mail/domains/store/a.ts', 'services/mail/domains/b.ts'],
  ['dns-and-smtp-are-adapters', 'services/mail/delivery/smtp/a.ts', 'services/mail/delivery/b.ts'],
  ['dns-and-smtp-are-adapters', 'services/mail/submission/smtp/a.ts', 'services/mail/submission/b.ts'],
  ['dns-and-smtp-are-adapters', 'services/mail/dns/a.ts', 'services/accounts/b.ts'],
  ['use-cases-know-no-http', 'services/mail/domains/a.ts', 'services/mail/domains/http/b.ts'],
  ['use-cases-know-no-http', 'services/subscriptions/people/a.ts', 'services/subscriptions/http/b.ts'],
  ['mail-knows-no-subscriptions', 'services/mail/log/http/a.ts', 'services/subscriptions/b.ts'],
  ['subscriptions-know-no-mail', 'services/subscriptions/http/a.ts', 'services/mail/b.ts'],
  ['accounts-below-both', 'services/accounts/http/a.ts', 'services/subscriptions/b.ts'],
  ['operator-calls-use-cases', 'operator/reconcilers/a.ts', 'services/mail/domains/http/b.ts'],
  ['operator-calls-use-cases', 'operator/reconcilers/a.ts', 'services/mail/domains/store/b.ts'],
  ['operator-calls-use-cases', 'operator/controller/a.ts', 'services/accounts/store/b.ts'],
  ['no-import-of-a-main', 'services/mail/a.ts', 'services/worker.ts'],
  ['panel-sees-contracts-only', 'services/panel/mail/a.ts', 'services/mail/domains/b.ts'],
  ['panel-ui-is-lowest', 'services/panel/ui/forms/a.ts', 'services/panel/mail/b.ts'],
  ['home-of-koa', 'services/mail/domains/a.ts', 'package:koa'],
  ['home-of-koa', 'services/mail/log/a.ts', 'package:@koa/router'],
  ['home-of-mongoose', 'services/mail/domains/a.ts', 'package:mongoose'],
  ['home-of-agenda', 'services/mail/domains/a.ts', 'package:agenda'],
  ['home-of-agendajs', 'services/mail/domains/a.ts', 'package:@agendajs/mongo-backend'],
  ['home-of-smtp-server', 'services/mail/delivery/a.ts', 'package:smtp-server'],
  ['home-of-nodemailer', 'services/mail/delivery/a.ts', 'package:nodemailer'],
  ['home-of-prom-client', 'services/mail/delivery/a.ts', 'package:prom-client'],
  ['home-of-pino', 'services/mail/delivery/a.ts', 'package:pino'],
  ['home-of-liquidjs', 'services/mail/delivery/a.ts', 'package:liquidjs'],
  ['home-of-modelcontextprotocol-server', 'services/mail/log/http/a.ts', 'package:@modelcontextprotocol/server'],
  ['home-of-parse', 'services/mail/delivery/a.ts', 'package:parse5'],
  ['home-of-selfsigned', 'services/mail/delivery/a.ts', 'package:selfsigned'],
  ['home-of-sax', 'services/mail/reports/a.ts', 'package:sax'],
  ['home-of-yauzl', 'services/mail/reports/a.ts', 'package:yauzl'],
  ['home-of-kubernetes-client-node', 'operator/controller/a.ts', 'package:@kubernetes/client-node'],
  ['home-of-node-rs-argon', 'services/mail/credentials/a.ts', 'package:@node-rs/argon2'],
  ['home-of-openid-client', 'services/accounts/a.ts', 'package:openid-client'],
  ['home-of-simplewebauthn-server', 'services/accounts/http/a.ts', 'package:@simplewebauthn/server'],
  ['home-of-simplewebauthn-browser', 'services/panel/account/a.ts', 'package:@simplewebauthn/browser'],
  ['subscriptions-audit', 'services/subscriptions/audit/a.ts', 'services/subscriptions/webhooks/b.ts'],
  ['subscriptions-catalogue', 'services/subscriptions/catalogue/a.ts', 'services/subscriptions/lifecycle/store/b.ts'],
  ['subscriptions-lifecycle', 'services/subscriptions/lifecycle/a.ts', 'services/subscriptions/payments/store/b.ts'],
  // The table of subjects: none may import a subject that it does not list.
  ...SUBJECTS.map(
    ({ rule, module, subject }) => [rule, `${module}/${subject}/a.ts`, `${module}/unlisted/b.ts`] as const,
  ),
]

/** Imports that the rules allow, one for each direction of the architecture. */
const ALLOWED: readonly (readonly [from: string, to: string])[] = [
  ['services/worker.ts', 'services/mail/delivery/http/b.ts'],
  ['services/mail/domains/http/a.ts', 'services/mail/log/b.ts'],
  ['services/mail/delivery/a.ts', 'services/mail/submission/b.ts'],
  ['services/mail/delivery/a.ts', 'services/mail/delivery/smtp/b.ts'],
  ['services/mail/domains/a.ts', 'services/mail/domains/store/b.ts'],
  ['services/mail/domains/store/a.ts', 'services/mail/domains/rules/b.ts'],
  ['services/mail/domains/rules/a.ts', 'services/mail/message/b.ts'],
  ['services/mail/domains/rules/a.ts', 'package:zod'],
  ['services/mail/domains/rules/a.ts', 'services/platform/durations.ts'],
  ['services/mail/domains/rules/a.ts', 'services/platform/managed/rules/b.ts'],
  ['services/subscriptions/flags/a.ts', 'services/accounts/b.ts'],
  ['operator/reconcilers/a.ts', 'services/mail/domains/b.ts'],
  ['services/panel/mail/a.ts', 'services/mail/domains/http/domains-contract.ts'],
  ['services/panel/mail/a.ts', 'services/panel/ui/b.ts'],
]

let root: string
let found: Set<string>

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'pw-boundaries-'))
  write('package.json', readFileSync('package.json', 'utf8'))
  const imports = new Map<string, Set<string>>()
  const add = (file: string, imported?: string) => {
    const list = imports.get(file) ?? new Set()
    imports.set(file, imported ? list.add(imported) : list)
  }
  const pairs = [...VIOLATIONS.map(([, from, to]) => [from, to] as const), ...ALLOWED]
  for (const [from, to] of [...pairs, ['services/platform/second.ts', 'services/platform/first.ts'] as const]) {
    const name = to.startsWith('package:') ? to.slice('package:'.length) : undefined
    add(from, name ?? (to.startsWith('services/') ? relativeImport(from, to) : to))
    if (name) {
      write(`node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.0.0', main: 'index.js' }))
      write(`node_modules/${name}/index.js`, '')
    } else add(to)
  }
  for (const [file, list] of imports) {
    write(file, [...list].map(one => `import '${one}'\n`).join('') || 'export {}\n')
  }
  found = await violationsIn(root)
})

afterAll(() => rmSync(root, { recursive: true, force: true }))

function write(file: string, content: string): void {
  mkdirSync(dirname(join(root, file)), { recursive: true })
  writeFileSync(join(root, file), content)
}

function relativeImport(from: string, to: string): string {
  const path = relative(dirname(from), to)
  return path.startsWith('.') ? path : `./${path}`
}

/** The violations of the real configuration in a tree, as `rule from to`. */
async function violationsIn(baseDir: string): Promise<Set<string>> {
  const { output } = await cruise(['services', 'operator'], {
    baseDir,
    validate: true,
    ruleSet: config as unknown as IFlattenedRuleSet,
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
  } satisfies ICruiseOptions)
  return new Set((output as ICruiseResult).summary.violations.map(one => `${one.rule.name} ${one.from} ${one.to}`))
}

test.each(VIOLATIONS)('%s: %s may not import %s', (rule, from, to) => {
  const [, name] = /^package:(.*)/.exec(to) ?? []
  expect(found).toContain(`${rule} ${from} ${name ? `node_modules/${name}/index.js` : to}`)
})

test.each(ALLOWED)('%s may import %s', (from, to) => {
  const [, name] = /^package:(.*)/.exec(to) ?? []
  const pair = ` ${from} ${name ? `node_modules/${name}/index.js` : to}`
  expect([...found].filter(one => one.endsWith(pair))).toEqual([])
})

test('every rule has a violation above', () => {
  const covered = new Set(VIOLATIONS.map(([rule]) => rule))
  // The kind of a dependency depends on package.json: dependency-rules.test.ts covers this rule.
  covered.add('no-development-dependencies')
  expect(config.forbidden.map(rule => rule.name).filter(name => !covered.has(name))).toEqual([])
})

const files = execFileSync('git', ['ls-files', 'services', 'operator'], { encoding: 'utf8' }).split('\n')

test.each(config.forbidden.map(rule => [rule.name, rule] as const))(
  '%s applies to files of the tree',
  (_, { from }) => {
    const not = [from.pathNot ?? []].flat().map(one => new RegExp(one))
    const matching = files.filter(file => new RegExp(from.path ?? '').test(file) && !not.some(one => one.test(file)))
    expect(matching.length).toBeGreaterThan(0)
  },
)

test.each(['mail', 'subscriptions'])('every subject of %s is in the table', module => {
  const folders = new Set(files.flatMap(file => new RegExp(`^services/${module}/([^/]+)/`).exec(file)?.[1] ?? []))
  const listed = config.forbidden.map(rule => rule.name).filter(name => name.startsWith(`${module}-`))
  // `http` combines the subjects' handlers, and `jobs` their scheduled work: both may import every subject.
  expect(
    [...folders].filter(name => !['http', 'jobs'].includes(name) && !listed.includes(`${module}-${name}`)),
  ).toEqual([])
})

/**
 * The subjects of a circle of imports, and the subjects that import them. Rules are not counted: those of a subject are
 * below every store, and those of the module take only types from it.
 */
function subjectsWithCircle(table: ReadonlyMap<string, readonly string[]>): string[] {
  let left = [...table.keys()].filter(subject => subject !== 'rules')
  for (;;) {
    const stays = left.filter(subject =>
      table.get(subject)?.some(folder => {
        const [imported = '', layer] = folder.split('/')
        return imported !== subject && layer !== 'rules' && left.includes(imported)
      }),
    )
    if (stays.length === left.length) return left
    left = stays
  }
}

test.each<[string, Record<string, string[]>, string[]]>([
  ['one direction', { a: ['a', 'b', 'c'], b: ['c'], c: ['c'] }, []],
  ['both directions', { a: ['b'], b: ['a'], c: [] }, ['a', 'b']],
  ['back to the store only', { a: ['b'], b: ['a/store'] }, ['a', 'b']],
  ['back to the rules only', { a: ['b'], b: ['a/rules'] }, []],
  ['a circle of three, and a subject above it', { a: ['b'], b: ['c'], c: ['a'], d: ['a'] }, ['a', 'b', 'c', 'd']],
])('a circle of subjects is found: %s', (_, table, expected) => {
  expect(subjectsWithCircle(new Map(Object.entries(table)))).toEqual(expected)
})

test.each(['mail', 'subscriptions', 'platform'])('the subjects of %s import each other in one direction', module => {
  const rows = SUBJECTS.filter(one => one.module === `services/${module}`)
  expect(rows.length).toBeGreaterThan(5)
  expect(subjectsWithCircle(new Map(rows.map(({ subject, folders }) => [subject, folders])))).toEqual([])
})
