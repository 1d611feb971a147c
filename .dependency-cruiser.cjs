/** Import directions of docs/architecture.md: main -> http, use cases -> store, dns, smtp -> rules; platform below all. */
const test = '\\.test\\.tsx?$'
const forbid = (name, comment, from, to) => ({ name, comment, severity: 'error', from: { pathNot: test, ...from }, to })
/** One vendor library, one home. */
const home = (library, path) =>
  forbid(
    `home-of-${library.replace(/[^a-z]+/g, '-')}`,
    `${library} is imported only in ${path}`,
    { path: '^(services|operator)/', pathNot: [path, test] },
    { path: `node_modules/${library}(/|$)` },
  )

module.exports = {
  forbidden: [
    forbid('no-cycles', 'a cycle hides the direction', {}, { circular: true }),
    forbid(
      'rules-are-pure',
      'rules import each other, zod, node:crypto, node:buffer and the two pure data libraries (public suffixes, IP ranges)',
      { path: '/rules/' },
      {
        pathNot: [
          '/rules/',
          'node_modules/zod/',
          '^(?:crypto|buffer)$',
          'node_modules/tldts',
          'node_modules/ipaddr\\.js',
        ],
      },
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
      { path: '^(services|operator)/', pathNot: ['/store/', '/rules/', '^services/platform/'] },
    ),
    forbid(
      'dns-and-smtp-are-adapters',
      'adapters know rules, platform and what passes through the door; the rest is handed in',
      { path: '^services/mail/(dns|smtp)/' },
      {
        path: '^(services|operator)/',
        pathNot: [
          '^services/mail/(dns|smtp|rules)/',
          '^services/platform/',
          '^services/mail/(store/documents|submission)\\.ts$',
        ],
      },
    ),
    forbid(
      'use-cases-know-no-http',
      'http calls use cases, not the other way round',
      { path: '^services/(mail|subscriptions)/[^/]+\\.ts$' },
      { path: '/http/' },
    ),
    forbid(
      'halves-are-apart',
      'mail knows nothing of subscriptions',
      { path: '^services/mail/' },
      { path: '^services/subscriptions/' },
    ),
    forbid(
      'halves-are-apart-2',
      'subscriptions know nothing of mail',
      { path: '^services/subscriptions/' },
      { path: '^services/mail/' },
    ),
    forbid(
      'accounts-below-both',
      'accounts serve both halves',
      { path: '^services/accounts/' },
      { path: '^services/(mail|subscriptions)/' },
    ),
    forbid(
      'operator-has-no-logic-of-its-own',
      'the operator calls use cases',
      { path: '^operator/' },
      { path: '^services/.*/(http|channels)/|^services/mail/smtp/' },
    ),
    forbid(
      'nobody-imports-a-main',
      'mains are entrances',
      { path: '^(services|operator)/', pathNot: ['^services/all\\.ts$', test] },
      { path: '^(services/[^/]+\\.ts|operator/main\\.ts)$' },
    ),
    forbid(
      'panel-sees-contracts-only',
      'the web app shares types with the service, nothing else',
      { path: '^services/panel/' },
      { path: '^(services|operator)/', pathNot: ['^services/panel/', '/http/[a-z-]*contract\\.ts$'] },
    ),
    home('koa', '(/http/|^services/platform/web)'),
    home('@koa/', '(/http/|^services/platform/web)'),
    home('mongoose', '(/store/|^services/platform/mongo)'),
    home('agenda', '^services/platform/jobs'),
    home('@agendajs/', '^services/platform/jobs'),
    home('smtp-server', '^services/mail/smtp/listener'),
    home('nodemailer', '^services/mail/(smtp/outbound|smtp/connection|compose)'),
    home('prom-client', '^services/platform/metrics'),
    home('pino', '^services/platform/log'),
    home('selfsigned', '^services/platform/certificates'),
    home('@kubernetes/client-node', '^operator/kube/'),
    home('@node-rs/argon2', '^services/accounts/'),
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(coverage|dist|services/panel/dist)' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.js', '.cjs', '.mjs', '.json'],
    },
  },
}
