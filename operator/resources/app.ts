/** App: an application of the Subscription Administration API. */
import { z } from 'zod'
import { defineKind, FORMER_VERSIONS, immutable, READY_COLUMNS, statusFields } from './kind.ts'

const spec = z.object({
  appKey: immutable(
    z
      .string()
      .min(3)
      .max(32)
      .regex(/^[a-z][a-z0-9_-]{2,31}$/),
    'appKey',
  ).describe('The app identifier of the API (query parameter app_key); unique in the installation, never reused.'),
  appName: z.string().min(1).max(64).describe('Name shown to people.'),
  appDescription: z
    .string()
    .max(500)
    .optional()
    .describe('Description shown to people; default is what the app has, empty for a new one.'),
  status: z
    .enum(['Enabled', 'Disabled'])
    .optional()
    .describe(
      'Disabled: the server API and switch evaluation answer 403 for this app. Default is what the app has, Enabled for a new one.',
    ),
  requireSignature: z
    .boolean()
    .optional()
    .describe(
      'True: the server API takes only signed requests of this app; default is what the app has, false for a new one. The signing key is in the Secret as hmac-key-id and hmac-secret.',
    ),
  mailFrom: z
    .string()
    .max(254)
    .regex(
      /^[A-Za-z0-9_'+-]+(\.[A-Za-z0-9_'+-]+)*@([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\.)+[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/,
    )
    .optional()
    .describe(
      "Sender of this app's reminders; default is the platform's own. Its domain is a verified one of an administrator whom the annotation postwright.dev/owners of the Namespace lists; while it is not, the condition SenderUsable is false and the platform's own is used.",
    ),
  deletionPolicy: z
    .enum(['Retain', 'Delete'])
    .default('Retain')
    .describe(
      'Retain: the app stays and can be edited in the panel. Delete: it goes, unless subscriptions are active.',
    ),
})

const status = z.object({
  ...statusFields,
  appId: z.string().max(64).optional().describe('Identifier of the app in the API.'),
  secretName: z
    .string()
    .max(253)
    .optional()
    .describe('Secret with app key, publishable key, app secret and what signs requests.'),
  mailFrom: z.string().max(254).optional().describe("Sender of the reminders; absent while it is the platform's own."),
})

/** An app. */
export const App = defineKind({
  kind: 'App',
  plural: 'apps',
  shortNames: ['pwapp', 'mapp'],
  formerVersions: FORMER_VERSIONS,
  description:
    'An application whose users, plans and switches the subscription services run. Its keys are in the Secret <name>-app.',
  spec,
  status,
  columns: [
    { name: 'Key', type: 'string', jsonPath: '.spec.appKey' },
    { name: 'Secret', type: 'string', jsonPath: '.status.secretName', priority: 1 },
    ...READY_COLUMNS,
  ],
})
/** Parsed App. */
export type App = ReturnType<typeof App.parse>
