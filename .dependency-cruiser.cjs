/**
 * Import directions of docs/architecture.md: main -> http -> use cases -> store and adapters -> rules; platform below
 * all. `scripts/boundaries.test.ts` shows for each rule that it matches files of the tree and catches a violation.
 */
const test = '\\.test\\.tsx?$'
/** Folders whose modules are pure: no clock, network, database, environment or randomness. */
const PURE = '(/rules/|^services/platform/(durations\\.ts$|sentences/)|^services/mail/(message|dns/records|dns/plan)/)'

/** The schemas of which rules may import types. */
const SCHEMAS = '^services/(subscriptions/store/models|platform/managed/managed-fields)\\.ts$'

/**
 * Subjects of a module, and the subjects that their use cases, stores and rules may import: always in one direction.
 * `store` and `rules` are what the subjects of a module share; handlers below `http/` may call any use case and are not
 * restricted by this table.
 */
const SUBJECTS = {
  'services/mail': {
    message: [],
    store: ['message'],
    dns: ['message', 'store'],
    domains: ['message', 'store', 'dns', 'webhooks'],
    suppressions: ['message', 'store', 'webhooks'],
    streams: ['message', 'store', 'suppressions', 'webhooks'],
    submission: [
      ...['message', 'store', 'suppressions', 'streams', 'domains', 'webhooks', 'limits', 'templates', 'tracking'],
    ],
    webhooks: ['message', 'store'],
    limits: ['message', 'store'],
    templates: ['message', 'store'],
    tracking: ['message', 'store', 'streams', 'dns', 'domains', 'webhooks', 'templates'],
    credentials: ['message', 'store', 'domains', 'submission'],
    delivery: [
      ...['message', 'store', 'suppressions', 'streams', 'dns', 'domains', 'submission', 'webhooks', 'limits'],
      'tracking',
    ],
    compat: ['message', 'store', 'submission', 'webhooks'],
    mcp: [],
    reports: ['message', 'store', 'dns', 'domains', 'submission', 'delivery'],
    inbox: ['message', 'store', 'templates'],
    log: ['message', 'store', 'suppressions', 'webhooks', 'domains', 'submission', 'delivery'],
    administration: ['store', 'dns', 'delivery', 'log', 'limits'],
    inbound: [
      'message',
      'store',
      'suppressions',
      'streams',
      'webhooks',
      'reports',
      'domains',
      'submission',
      'delivery',
      'log',
    ],
  },
  'services/subscriptions': {
    // Types of models only: `rules-take-types-of-schemas`.
    rules: ['store'],
    store: ['rules', 'flags/rules', 'events/rules'],
    counters: ['rules', 'store'],
    events: ['rules', 'store'],
    audit: ['rules', 'store', 'counters', 'events'],
    webhooks: ['rules', 'store', 'audit', 'events', 'catalogue'],
    people: ['rules', 'store', 'counters', 'audit', 'events'],
    catalogue: ['rules', 'store', 'audit'],
    flags: ['rules', 'store', 'audit', 'catalogue'],
    lifecycle: ['rules', 'store', 'counters', 'audit', 'people', 'catalogue'],
    payments: ['rules', 'store', 'audit', 'catalogue', 'lifecycle'],
    reminders: ['rules', 'store', 'audit', 'people', 'catalogue', 'lifecycle', 'events'],
    reports: ['rules', 'store', 'counters', 'people', 'catalogue', 'lifecycle'],
    kubernetes: ['rules', 'store', 'audit', 'catalogue', 'flags', 'events', 'webhooks'],
  },
  'services/platform': {
    network: ['sentences'],
    tables: ['concurrency', 'sentences'],
    json: ['sentences'],
    observability: [],
    concurrency: ['sentences'],
    database: ['observability', 'concurrency'],
    sentences: [],
    managed: ['database', 'sentences'],
    security: ['database'],
    jobs: ['observability', 'concurrency', 'database'],
    http: ['json', 'network', 'tables', 'observability', 'concurrency', 'database', 'sentences'],
    webhooks: ['network', 'concurrency', 'database', 'observability', 'sentences', 'managed', 'security'],
    mongod: ['observability', 'concurrency', 'database'],
  },
}

const forbid = (name, comment, from, to) => ({ name, comment, severity: 'error', from: { pathNot: test, ...from }, to })

/** One vendor library, one home. */
const home = (library, path) =>
  forbid(
    `home-of-${library.replace(/[^a-z]+/g, '-').replace(/^-|-$/g, '')}`,
    `${library} is imported only in ${path}`,
    { path: '^(services|operator)/', pathNot: [path, test] },
    { path: `node_modules/${library}(/|$)` },
  )

/** What a subject imports of its module: itself, files directly below the module, and the subjects of the table. */
const subject = (root, name, mayImport) =>
  forbid(
    `${root.split('/').at(-1)}-${name}`,
    `${root}/${name} imports only ${[...mayImport, 'itself'].join(', ')} of its module`,
    { path: `^${root}/${name}/`, pathNot: [`^${root}/.+/http/`, test] },
    { path: `^${root}/[^/]+/`, pathNot: [name, ...mayImport].map(one => `^${root}/${one}/`) },
  )

module.exports = {
  forbidden: [
    forbid('no-cycles', 'a cycle hides the direction', {}, { circular: true }),
    forbid(
      'rules-are-pure',
      'rules import each other, zod, node:crypto, node:buffer, the two pure data libraries (public suffixes, IP ranges), and types of models',
      { path: PURE },
      {
        pathNot: [PURE, SCHEMAS, 'node_modules/(zod|tldts|ipaddr\\.js)', '^(?:crypto|buffer)$'],
      },
    ),
    forbid(
      'rules-take-types-of-schemas',
      'the type of a document is inferred from its schema; at run time rules know no model',
      { path: PURE },
      { path: SCHEMAS, dependencyTypesNot: ['type-only'] },
    ),
    forbid(
      'platform-is-lowest',
      'platform knows no product',
      { path: '^services/platform/' },
      { path: '^(services/(mail|subscriptions|accounts|panel)|operator)/' },
    ),
    forbid(
      'store-uses-rules-and-platform',
      'a store knows no use case',
      { path: '/store/' },
      { path: '^(services|operator)/', pathNot: ['/store/', PURE, '^services/platform/'] },
    ),
    forbid(
      'dns-and-smtp-are-adapters',
      'adapters know rules, platform and the types of a submission; the rest is handed in',
      { path: '^services/mail/(dns|submission/smtp|delivery/smtp)/' },
      {
        path: '^(services|operator)/',
        pathNot: [
          '^services/mail/(dns|submission/smtp|delivery/smtp)/',
          PURE,
          '^services/platform/',
          '^services/mail/(store/documents|submission/submission)\\.ts$',
        ],
      },
    ),
    forbid(
      'use-cases-know-no-http',
      'http calls use cases, not the other way round',
      { path: '^services/(mail|subscriptions|accounts)/', pathNot: ['/http/', test] },
      { path: '/http/', pathNot: ['^services/platform/', 'node_modules/'] },
    ),
    forbid(
      'mail-knows-no-subscriptions',
      'the halves are apart',
      { path: '^services/mail/' },
      { path: '^services/subscriptions/' },
    ),
    forbid(
      'subscriptions-know-no-mail',
      'the halves are apart',
      { path: '^services/subscriptions/' },
      { path: '^services/mail/' },
    ),
    forbid(
      'accounts-below-both',
      'accounts serve both modules',
      { path: '^services/accounts/' },
      { path: '^services/(mail|subscriptions)/' },
    ),
    ...Object.entries(SUBJECTS).flatMap(([root, subjects]) =>
      Object.entries(subjects).map(([name, mayImport]) => subject(root, name, mayImport)),
    ),
    forbid(
      'operator-calls-use-cases',
      'the operator has no logic and no storage of its own: it calls use cases, and takes types from them',
      { path: '^operator/' },
      { path: '^services/.*/(http|channels|smtp|store)/', pathNot: '^services/platform/' },
    ),
    forbid(
      'no-import-of-a-main',
      'an entry point is started, never imported',
      { path: '^(services|operator)/', pathNot: ['^services/all\\.ts$', test] },
      { path: '^(services/[^/]+\\.ts|operator/main\\.ts)$' },
    ),
    forbid(
      'panel-sees-contracts-only',
      'the web app shares types and sentences with the service, nothing else',
      { path: '^services/panel/' },
      {
        path: '^(services|operator)/',
        pathNot: ['^services/panel/', '/http/[a-z-]*contract\\.ts$', '^services/platform/sentences/'],
      },
    ),
    forbid(
      'panel-ui-is-lowest',
      'components know the state, the texts and the transport, and no page',
      { path: '^services/panel/ui/' },
      { path: '^services/panel/', pathNot: '^services/panel/(ui|api|i18n|state|theme)/' },
    ),
    home('@?koa', '/http/'),
    home('mongoose', '(/store/|^services/platform/(database/(fields|models|mongo)|mongod/))'),
    home('agenda', '^services/platform/jobs/'),
    home('@agendajs', '^services/platform/jobs/'),
    home('smtp-server', '^services/mail/(submission/smtp/listener|inbound/smtp/)'),
    home('nodemailer', '^services/mail/submission/compose'),
    home('prom-client', '^services/platform/observability/'),
    home('pino', '^services/platform/observability/log'),
    home('liquidjs', '^services/mail/templates/rendering/'),
    home('parse5', '^services/mail/(templates/rendering|tracking/rewriting|inbox/reading)/'),
    home('selfsigned', '^services/platform/security/self-signed-certificate'),
    home('@modelcontextprotocol/server', '^services/mail/mcp/http/'),
    home('sax', '^services/mail/(reports/reading|dns/providers/route53)/'),
    home('yauzl', '^services/mail/reports/reading/'),
    home('@kubernetes/client-node', '^operator/kube/'),
    home('@node-rs/argon2', '^services/accounts/'),
    home('openid-client', '^services/accounts/oidc-provider'),
    home('@simplewebauthn/server', '^services/accounts/passkeys'),
    home('@simplewebauthn/browser', '^services/panel/session/passkey'),
    {
      name: 'no-development-dependencies',
      comment: 'the image has production dependencies only; the web app (services/panel/) is bundled before',
      severity: 'error',
      from: { path: '^(services|operator|scripts/admin\\.ts$)', pathNot: [test, '^services/panel/'] },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(coverage|dist|services/panel/dist|services/panel/start/snippets)' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.js', '.cjs', '.mjs', '.json'],
    },
  },
}
